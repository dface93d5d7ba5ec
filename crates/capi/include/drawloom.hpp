// drawloom.h for C++17: tasks and sessions of callables. An exception that leaves one is a finding with its message.
//
// A task that is left over when an execution ends is not unwound: its destructors do not run. Exceptions may be thrown and caught within a
// task; a `catch` block must be left before the task waits for anything, since the tasks of a session share one thread.
#ifndef DRAWLOOM_HPP
#define DRAWLOOM_HPP

#include <drawloom.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace drawloom {

namespace detail {

// Calls what may throw. The exception is gone when the execution fails by it: no task goes on from here.
template <class F> void guarded(F &&call, const drawloom_loc *at)
{
    char message[256] = "";
    bool thrown = false;
    try {
        call();
    } catch (const std::exception &error) {
        thrown = true;
        std::strncpy(message, error.what(), sizeof message - 1);
    } catch (...) {
        thrown = true;
        std::strncpy(message, "an exception that is no std::exception", sizeof message - 1);
    }
    if (thrown)
        drawloom_fail("exception", message, at);
}

template <class F> struct started {
    F call;
    const drawloom_loc *at;
};

template <class F> void run_started(void *arg)
{
    std::unique_ptr<started<F>> own(static_cast<started<F> *>(arg));
    guarded(own->call, own->at);
}

template <class F> void run_body(void *arg) { guarded(*static_cast<F *>(arg), nullptr); }

} // namespace detail

// A task that runs a callable. It is neither joined nor detached by its destructor.
class task {
  public:
    template <class F> explicit task(F call, const drawloom_loc *at = nullptr)
    {
        auto started = std::make_unique<detail::started<F>>(detail::started<F>{std::move(call), at});
        handle_ = drawloom_task_spawn(detail::run_started<F>, started.get(), at);
        if (handle_ != 0)
            started.release();
    }

    drawloom_status join(const drawloom_loc *at = nullptr) { return drawloom_task_join(handle_, at); }
    drawloom_handle handle() const { return handle_; }

  private:
    drawloom_handle handle_;
};

// A configuration; a key that there is not throws nothing, and `error` says what was wrong.
class config {
  public:
    config() : config_(drawloom_config_new(), drawloom_config_free) {}

    config &set(const char *key, const char *value)
    {
        if (drawloom_config_set(config_.get(), key, value) != DRAWLOOM_OK)
            error_ = drawloom_config_error(config_.get());
        return *this;
    }

    const std::string &error() const { return error_; }
    const drawloom_config *get() const { return config_.get(); }

  private:
    std::unique_ptr<drawloom_config, void (*)(drawloom_config *)> config_;
    std::string error_;
};

// What a session came to.
struct outcome {
    drawloom_verdict verdict = DRAWLOOM_ERROR;
    std::uint64_t executions = 0;
    bool exhausted = false;
    std::string kind, message, token;
};

// Explores what a callable does.
template <class F> outcome explore(const config &config, const char *name, F body)
{
    drawloom_result result{};
    result.size = sizeof result;
    outcome came_to;
    came_to.verdict = drawloom_run(config.get(), name, detail::run_body<F>, &body, nullptr, &result);
    const auto text = [](const char *text) { return std::string(text ? text : ""); };
    came_to.executions = result.executions;
    came_to.exhausted = result.exhausted != 0;
    came_to.kind = text(result.kind);
    came_to.message = text(result.message);
    came_to.token = text(result.token);
    drawloom_result_free(&result);
    return came_to;
}

} // namespace drawloom

#endif
