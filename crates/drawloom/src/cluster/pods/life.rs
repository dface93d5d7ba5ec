//! Starts, ends and faults of pods.
//!
//! All tasks of a start of a pod are a group of the engine's, which a crash kills: the rules are in `engine/src/resource/kill.rs`. They are killed
//! first, and then the pod counts as down, so that whatever it has told others it has done. What is in flight, and what makes
//! faults, are tasks of no pod.

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use drawloom_fiber::ForcedUnwind;
use drawloom_sim::{Action, Fault};

use super::net::{Host, MOST_STARTS, Net, refused};
use super::{Pods, Start};
use crate::cluster::NodeId;
use crate::rt::{self, Handle, Site, TaskId};
use crate::sync::{Latch, mpsc};

/// A pod to be.
pub(super) struct Plan {
    pub(super) name: Box<str>,
    pub(super) is_client: bool,
    pub(super) at: &'static Location<'static>,
    pub(super) make: Rc<dyn Fn() -> Start>,
}

/// A run.
#[derive(Clone)]
pub(super) struct Life {
    rt: Handle,
    site: Site,
    net: Arc<Net>,
    pods: Rc<[Lives]>,
}

/// A pod in a run.
struct Lives {
    plan: Plan,
    /// Its code has ended, or it is gone for good.
    ended: (mpsc::Sender<()>, mpsc::Receiver<()>),
}

/// Starts a task of a group; one of no pod's, with 0.
pub(super) fn spawn(
    rt: Handle,
    name: &str,
    site: Site,
    group: u16,
    is_daemon: bool,
    body: impl FnOnce(Handle) + 'static,
) -> TaskId {
    let body = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| body(rt)));
        if ended.is_err_and(|payload| !payload.is::<ForcedUnwind>()) {
            rt.panicked(true);
        }
    };
    let task = rt.spawn(Some(name), site, Box::new(body));
    rt.set_group(task, group);
    if is_daemon {
        rt.with_engine(|engine| engine.make_daemon(task));
    }
    task
}

impl Life {
    #[track_caller]
    pub(super) fn begin(pods: Pods, rt: Handle, site: Site) -> Life {
        let at = pods.faults_at.map(|at| format!(" ({at})")).unwrap_or_default();
        if let Some(kind) = refused(&pods.faults) {
            panic!(
                "pods know no {kind}{at}: they crash, restart and reboot, messages are lost or come twice, and links are cut"
            );
        }
        assert!(
            pods.plans.iter().any(|plan| plan.is_client),
            "pods without a client: the run waits for clients, so add one with `client`"
        );
        let most = u16::MAX / MOST_STARTS - 1;
        assert!(pods.plans.len() < usize::from(most), "{} pods: no more than {most} can run", pods.plans.len());
        for wire in pods.net.wires().iter() {
            let (to, at) = wire.to();
            let is_known = pods.plans.iter().any(|plan| *plan.name == *to);
            assert!(is_known, "the channel made at {at} leads to `{to}`, and no pod has that name");
        }
        pods.net.begin(&pods, pods.faults.counts_messages());
        let Pods { net, plans, faults, faults_at } = pods;
        let all: Vec<NodeId> = (0..plans.len()).map(NodeId::from_index).collect();
        let servers: Vec<NodeId> = all.iter().copied().filter(|pod| !plans[pod.index()].is_client).collect();
        let chosen = faults.draw(&all, &servers, faults_at, &mut |outcomes| rt.choose(outcomes, site));
        let pods = plans.into_iter().map(|plan| Lives { plan, ended: mpsc::channel() }).collect();
        let life = Life { rt, site, net, pods };
        for pod in all {
            life.run(pod, 1);
        }
        let fault_site = faults_at.map_or(site, rt::site);
        for fault in chosen {
            let theirs = life.clone();
            spawn(rt, "faults", fault_site, 0, true, move |_| theirs.suffer(fault));
        }
        life
    }

    #[track_caller]
    pub(super) fn until_clients_have_ended(self) {
        for pod in self.pods.iter().filter(|pod| pod.plan.is_client) {
            // Its other end is kept with it.
            _ = pod.ended.1.recv();
        }
    }

    fn lives(&self, pod: NodeId) -> &Lives {
        &self.pods[pod.index()]
    }

    fn update<R>(&self, pod: NodeId, change: impl FnOnce(&mut Host) -> R) -> R {
        let at = rt::location(self.site).unwrap_or(Location::caller());
        self.net.host(pod).update_from(at, change)
    }

    /// A pod comes back.
    fn start(&self, pod: NodeId) {
        let lives = self.lives(pod);
        let name = &*lives.plan.name;
        for wire in self.net.wires().iter().filter(|wire| wire.to().0 == name) {
            wire.renew();
        }
        let starts = self.update(pod, |host| {
            (host.is_up, host.starts) = (true, host.starts + 1);
            host.starts
        });
        assert!(starts < MOST_STARTS, "`{name}` starts {MOST_STARTS} times");
        self.run(pod, starts);
    }

    /// A pod begins, with a copy of its configuration.
    fn run(&self, pod: NodeId, starts: u16) {
        let lives = self.lives(pod);
        let (main, theirs) = ((lives.plan.make)(), self.clone());
        spawn(self.rt, &lives.plan.name, rt::site(lives.plan.at), Net::group(pod, starts), true, move |_| {
            main();
            theirs.has_ended(pod);
        });
    }

    fn has_ended(&self, pod: NodeId) {
        let lives = self.lives(pod);
        if lives.plan.is_client {
            _ = lives.ended.0.send(());
        }
    }

    /// All tasks of a pod are gone.
    fn crash(&self, pod: NodeId) {
        let starts = self.update(pod, |host| host.starts);
        self.rt.kill_group(Net::group(pod, starts), self.site);
        self.update(pod, |host| host.is_up = false);
    }

    /// One fault, step by step.
    fn suffer(&self, fault: Fault) {
        let comes_back = fault.iter().any(|(_, action)| *action == Action::Restart);
        for (pod, action) in fault {
            let opened: Vec<Arc<Latch>> = match action {
                Action::Crash(..) => {
                    self.crash(pod);
                    if !comes_back {
                        self.has_ended(pod);
                    }
                    Vec::new()
                }
                Action::Reboot(..) => {
                    self.crash(pod);
                    self.start(pod);
                    Vec::new()
                }
                Action::Restart => {
                    self.start(pod);
                    Vec::new()
                }
                Action::Duplicate => self.update(pod, |host| {
                    host.duplicates += 1;
                    Vec::new()
                }),
                Action::Lose => self.update(pod, |host| {
                    host.losses += 1;
                    Vec::new()
                }),
                Action::Cut(from, mode) => self.update(pod, |host| {
                    host.deaf_to.extend(from.into_iter().map(|from| (from, mode, Arc::new(Latch::new(1)))));
                    Vec::new()
                }),
                Action::Heal(from) => self.update(pod, |host| {
                    let is_meant = |node: NodeId| from.contains(&node);
                    let (healed, left) = std::mem::take(&mut host.deaf_to).into_iter().partition(|cut| is_meant(cut.0));
                    let healed: Vec<_> = healed;
                    host.deaf_to = left;
                    healed.into_iter().map(|(.., heals)| heals).collect()
                }),
                other => unreachable!("it was refused: {other:?}"),
            };
            for heals in opened {
                heals.count_down();
            }
        }
    }
}
