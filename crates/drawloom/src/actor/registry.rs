//! Who can be found under which key, without being asked: registries and groups.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use super::ctx::Ctx;
use super::gen_server::{Flow, GenServer, ServerCtx, ServerRef, StartError};
use super::pid::{AnyPid, Pid};
use super::reason::ExitReason;
use super::reply::{CallError, ReplyTo};
use super::signal::{Message, MonitorRef, Received};
use super::table::Table;

type Rows<K, V> = Table<K, Vec<(AnyPid, V)>>;

/// Processes under keys, each with a value: Elixir's `Registry`. Looking up asks nobody; a process that ends is removed some time
/// later.
///
/// ```
/// use drawloom::actor::{self, Ctx, Registry};
///
/// actor::run(async |ctx: Ctx<()>| {
///     let rooms = Registry::unique(&ctx);
///     rooms.register(&ctx, "lobby", 3).unwrap();
///     assert!(rooms.register(&ctx, "lobby", 4).is_err());
///     assert_eq!(rooms.lookup(&ctx, &"lobby"), [(ctx.me().any().clone(), 3)]);
/// });
/// ```
pub struct Registry<K: Ord, V> {
    rows: Rows<K, V>,
    keeper: Pid<()>,
    is_unique: bool,
}

/// Another process has the key already.
///
/// ```
/// use drawloom::actor::{self, Ctx, Registry};
///
/// actor::run(async |ctx: Ctx<()>| {
///     let rooms = Registry::unique(&ctx);
///     rooms.register(&ctx, "lobby", 3).unwrap();
///     let error = rooms.register(&ctx, "lobby", 4).unwrap_err();
///     assert_eq!(&error.by, ctx.me().any());
/// });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlreadyRegistered {
    /// The process that has the key.
    pub by: AnyPid,
    /// The place of the second registration.
    pub at: &'static Location<'static>,
}

impl fmt::Display for AlreadyRegistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key that is registered at {} is that of {:?}", self.at, self.by)
    }
}

impl Error for AlreadyRegistered {}

impl<K, V> Registry<K, V>
where
    K: Ord + Clone + Send + 'static,
    V: Clone + Send + 'static,
{
    /// A registry in which a key belongs to one process. Linked to the process that starts it.
    #[track_caller]
    pub fn unique<M: Message>(ctx: &Ctx<M>) -> Registry<K, V> {
        Registry::start(ctx, true)
    }

    /// A registry in which many processes can have a key. Linked to the process that starts it.
    #[track_caller]
    pub fn duplicate<M: Message>(ctx: &Ctx<M>) -> Registry<K, V> {
        Registry::start(ctx, false)
    }

    #[track_caller]
    fn start<M: Message>(ctx: &Ctx<M>, is_unique: bool) -> Registry<K, V> {
        let rows: Rows<K, V> = Table::new();
        let parent = ctx.me().any().clone();
        let theirs = rows.clone();
        let keeper = ctx.spawn_link(|mut ctx: Ctx<()>| async move {
            ctx.trap_exit(true);
            loop {
                let Received::Exit(exit) = ctx.recv().await else { continue };
                match exit.from {
                    Some(from) if from == parent => return exit.reason,
                    Some(from) => remove(&theirs, &from),
                    None => return exit.reason,
                }
            }
        });
        Registry { rows, keeper, is_unique }
    }

    /// Gives the calling process a key. It is linked to the registry from then on.
    ///
    /// # Errors
    ///
    /// If the key is somebody's who lives and keys are unique.
    ///
    /// # Panics
    ///
    /// If the registry has ended.
    #[track_caller]
    pub fn register<M: Message>(&self, ctx: &Ctx<M>, key: K, value: V) -> Result<(), AlreadyRegistered> {
        let at = Location::caller();
        ctx.link(&self.keeper).unwrap_or_else(|_| panic!("the registry used at {at} has ended"));
        let me = ctx.me().any();
        loop {
            let whose = self.rows.upsert(key.clone(), |row| {
                let row = row.get_or_insert_default();
                let whose = if self.is_unique { row.first().map(|(whose, _)| whose.clone()) } else { None };
                if whose.is_none() {
                    row.push((me.clone(), value.clone()));
                }
                whose
            });
            let Some(by) = whose else { return Ok(()) };
            if by == *me || ctx.is_alive(&by) {
                return Err(AlreadyRegistered { by, at });
            }
            // It has ended, and the registry has not heard of it yet.
            forget(&self.rows, &key, &by);
        }
    }

    /// Takes the key from the calling process.
    #[track_caller]
    pub fn unregister<M: Message>(&self, ctx: &Ctx<M>, key: &K) {
        forget(&self.rows, key, ctx.me().any());
        if self.keys(ctx.me()).is_empty() {
            ctx.unlink(&self.keeper);
        }
    }

    /// The processes that have the key, with their values. With unique keys, ended processes are left out.
    #[track_caller]
    pub fn lookup<M: Message>(&self, ctx: &Ctx<M>, key: &K) -> Vec<(AnyPid, V)> {
        let mut all = self.rows.lookup(key).unwrap_or_default();
        if self.is_unique {
            all.retain(|(whose, _)| ctx.is_alive(whose));
        }
        all
    }

    /// As [`lookup`](Self::lookup), but only processes whose value is `wanted`, as `match/4`.
    #[track_caller]
    pub fn select<M: Message>(&self, ctx: &Ctx<M>, key: &K, wanted: impl Fn(&V) -> bool) -> Vec<(AnyPid, V)> {
        let mut all = self.lookup(ctx, key);
        all.retain(|(_, value)| wanted(value));
        all
    }

    /// Calls `f` with all who have the key, unless nobody has.
    #[track_caller]
    pub fn dispatch(&self, key: &K, f: impl FnOnce(Vec<(AnyPid, V)>)) {
        if let Some(all) = self.rows.lookup(key) {
            f(all);
        }
    }

    /// Changes the value of the calling process; whether it has one under this key.
    #[track_caller]
    pub fn update_value<M: Message>(&self, ctx: &Ctx<M>, key: &K, change: impl FnOnce(&mut V)) -> bool {
        let me = ctx.me().any();
        let changed = self.rows.update_element(key, |row| {
            let mine = row.iter_mut().find(|(whose, _)| whose == me);
            mine.map(|(_, value)| change(value)).is_some()
        });
        changed == Some(true)
    }

    /// The keys of a process.
    #[track_caller]
    pub fn keys(&self, of: impl AsRef<AnyPid>) -> Vec<K> {
        let of = of.as_ref();
        let rows = self.rows.select(|_, row| row.iter().any(|(whose, _)| whose == of));
        rows.into_iter().map(|(key, _)| key).collect()
    }

    /// How many registrations there are.
    #[track_caller]
    pub fn count(&self) -> usize {
        self.rows.to_vec().iter().map(|(_, row)| row.len()).sum()
    }
}

#[track_caller]
fn forget<K: Ord + Clone, V: Clone>(rows: &Rows<K, V>, key: &K, who: &AnyPid) {
    rows.upsert(key.clone(), |row| {
        if let Some(all) = row {
            all.retain(|(whose, _)| whose != who);
        }
        if row.as_ref().is_some_and(Vec::is_empty) {
            *row = None;
        }
    });
}

/// All that a process had, in one step.
fn remove<K: Ord + Clone, V: Clone>(rows: &Rows<K, V>, who: &AnyPid) {
    rows.retain_in(|row| {
        row.retain(|(whose, _)| whose != who);
        !row.is_empty()
    });
}

impl<K: Ord, V> Clone for Registry<K, V> {
    fn clone(&self) -> Self {
        Registry { rows: self.rows.clone(), keeper: self.keeper.clone(), is_unique: self.is_unique }
    }
}

impl<K: Ord, V> fmt::Debug for Registry<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "registry {:?}", self.keeper)
    }
}

/// Groups of processes, by name: OTP's `pg`. A process can be in many groups, and in one more than once; it leaves all when it ends.
///
/// ```
/// use drawloom::actor::{self, Ctx, Groups};
///
/// let got = actor::run(async |mut ctx: Ctx<u32>| {
///     let groups = Groups::start_link(&mut ctx).await.unwrap();
///     let me = ctx.me().clone();
///     groups.join(&mut ctx, "listeners".to_owned(), &me).await.unwrap();
///     for member in groups.members(&"listeners".to_owned()) {
///         ctx.send(&member, 42);
///     }
///     ctx.recv_message().await
/// });
/// assert_eq!(got, 42);
/// ```
pub struct Groups<K, N>
where
    K: Ord + Clone + fmt::Debug + Send + 'static,
    N: Message,
{
    rows: Table<K, Vec<Pid<N>>>,
    server: ServerRef<Scope<K, N>>,
}

struct Scope<K, N> {
    rows: Table<K, Vec<Pid<N>>>,
    monitors: Vec<(Pid<N>, MonitorRef)>,
}

#[derive(Debug)]
enum Change<K, N> {
    Join(K, Pid<N>, ReplyTo<()>),
    Leave(K, Pid<N>, ReplyTo<bool>),
}

impl<K, N> GenServer for Scope<K, N>
where
    K: Ord + Clone + fmt::Debug + Send + 'static,
    N: Message,
{
    type Args = Table<K, Vec<Pid<N>>>;
    type Call = Change<K, N>;
    type Cast = ();
    type Info = ();

    async fn init(rows: Self::Args, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Scope { rows, monitors: Vec::new() })
    }

    async fn handle_call(&mut self, change: Change<K, N>, ctx: &mut ServerCtx<Self>) -> Flow {
        match change {
            Change::Join(group, who, reply) => {
                if !self.monitors.iter().any(|(whose, _)| *whose == who) {
                    self.monitors.push((who.clone(), ctx.monitor(&who)));
                }
                self.rows.upsert(group, |row| row.get_or_insert_default().push(who));
                reply.send(());
            }
            Change::Leave(group, who, reply) => {
                let left = self.rows.upsert(group, |row| {
                    let all = row.get_or_insert_default();
                    let at = all.iter().position(|member| *member == who);
                    let left = at.map(|at| all.remove(at)).is_some();
                    if all.is_empty() {
                        *row = None;
                    }
                    left
                });
                let is_member = !self.rows.select(|_, row| row.contains(&who)).is_empty();
                let at = self.monitors.iter().position(|(whose, _)| *whose == who && !is_member);
                if let Some(at) = at {
                    let (_, monitor) = self.monitors.remove(at);
                    ctx.demonitor_flush(monitor);
                }
                reply.send(left);
            }
        }
        Flow::Continue
    }

    async fn handle_info(&mut self, info: Received<()>, _: &mut ServerCtx<Self>) -> Flow {
        if let Received::Down(down) = info {
            self.monitors.retain(|(_, monitor)| *monitor != down.monitor);
            self.rows.retain_in(|row| {
                row.retain(|member| Some(member.any()) != down.process.as_ref());
                !row.is_empty()
            });
        }
        Flow::Continue
    }
}

impl<K, N> Groups<K, N>
where
    K: Ord + Clone + fmt::Debug + Send + 'static,
    N: Message,
{
    /// Starts with no group, linked to the process that starts it.
    ///
    /// # Errors
    ///
    /// If it does not start.
    pub async fn start_link<M: Message>(ctx: &mut Ctx<M>) -> Result<Groups<K, N>, StartError> {
        let rows = Table::new();
        let server = Scope::start_link(ctx, rows.clone()).await?;
        Ok(Groups { rows, server })
    }

    /// Lets a process join a group.
    ///
    /// # Errors
    ///
    /// If the groups' own process has ended.
    #[track_caller]
    pub fn join<M: Message>(
        &self,
        ctx: &mut Ctx<M>,
        group: K,
        who: &Pid<N>,
    ) -> impl Future<Output = Result<(), CallError>> + Send {
        let who = who.clone();
        self.server.call(ctx, |reply| Change::Join(group, who, reply), None)
    }

    /// Lets a process leave a group; whether it was in it.
    ///
    /// # Errors
    ///
    /// If the groups' own process has ended.
    #[track_caller]
    pub fn leave<M: Message>(
        &self,
        ctx: &mut Ctx<M>,
        group: K,
        who: &Pid<N>,
    ) -> impl Future<Output = Result<bool, CallError>> + Send {
        let who = who.clone();
        self.server.call(ctx, |reply| Change::Leave(group, who, reply), None)
    }

    /// The members of a group, in the order of joining. It sends no message.
    #[track_caller]
    pub fn members(&self, group: &K) -> Vec<Pid<N>> {
        self.rows.lookup(group).unwrap_or_default()
    }

    /// The groups that have members.
    #[track_caller]
    pub fn groups(&self) -> Vec<K> {
        self.rows.to_vec().into_iter().map(|(group, _)| group).collect()
    }
}

impl<K, N> Clone for Groups<K, N>
where
    K: Ord + Clone + fmt::Debug + Send + 'static,
    N: Message,
{
    fn clone(&self) -> Self {
        Groups { rows: self.rows.clone(), server: self.server.clone() }
    }
}

impl<K, N> fmt::Debug for Groups<K, N>
where
    K: Ord + Clone + fmt::Debug + Send + 'static,
    N: Message,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "groups {:?}", self.server)
    }
}
