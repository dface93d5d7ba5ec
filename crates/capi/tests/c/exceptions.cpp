// Exceptions that leave a task, or main, are findings; those that are caught are none.
#include <drawloom.hpp>
#include <iostream>
#include <stdexcept>

static void say(const char *name, const drawloom::outcome &outcome)
{
    std::cout << name << ": " << (outcome.kind.empty() ? "passed" : outcome.kind + ": " + outcome.message) << ", " << outcome.executions
              << (outcome.exhausted ? ", exhausted" : "") << '\n';
}

int main()
{
    drawloom::config config;
    config.set("strategy", "exhaustive").set("trace", "false").set("quiet", "true").set("allow_no_choice", "true");
    say("of a task", drawloom::explore(config, "of a task", [] {
            drawloom::task thrower([] { throw std::runtime_error("out of range"); }, DRAWLOOM_HERE);
            thrower.join();
        }));
    say("of main", drawloom::explore(config, "of main", [] { throw 5; }));
    say("caught", drawloom::explore(config, "caught", [] {
            int caught = 0;
            drawloom::task catcher([&caught] {
                try {
                    throw std::runtime_error("mine");
                } catch (const std::runtime_error &) {
                    caught = 1;
                }
            });
            catcher.join();
            DRAWLOOM_ASSERT(caught == 1);
        }));
    std::uint64_t count = 0;
    say("lost update", drawloom::explore(config, "lost update", [&count] {
            count = 0;
            const auto add = [&count] {
                const auto seen = drawloom_atomic_load(&count, 8, DRAWLOOM_SEQ_CST, DRAWLOOM_HERE);
                drawloom_atomic_store(&count, 8, seen + 1, DRAWLOOM_SEQ_CST, DRAWLOOM_HERE);
            };
            drawloom::task other(add, DRAWLOOM_HERE);
            add();
            other.join();
            if (count != 2)
                throw std::logic_error("an update was lost");
        }));
    config.set("speed", "11");
    std::cout << (config.error().empty() ? "no error" : "an error of the configuration") << '\n';
}
