//! The scenarios on turmoil, with the latencies that it has by default or, by `FIXED=1`, with 1 ms for each message.

use std::time::Duration;

use drawloom_bench_clusters::{PERIOD, Scenario};
use turmoil::net::UdpSocket;
use turmoil::{Builder, Sim};

fn sim() -> Sim<'static> {
    let mut builder = Builder::new();
    builder.simulation_duration(Duration::from_secs(1_000_000)).rng_seed(1).udp_capacity(100_000);
    if std::env::var_os("FIXED").is_some() {
        builder.min_message_latency(Duration::from_millis(1)).max_message_latency(Duration::from_millis(1));
    }
    builder.build()
}

fn echo(hosts: usize, requests: usize) {
    let mut sim = sim();
    sim.host("server", || async {
        let socket = UdpSocket::bind("0.0.0.0:9000").await?;
        let mut buffer = [0; 64];
        loop {
            let (length, from) = socket.recv_from(&mut buffer).await?;
            socket.send_to(&buffer[..length], from).await?;
        }
    });
    for client in 1..hosts {
        let each = requests / (hosts - 1);
        sim.client(format!("client{client}"), async move {
            let socket = UdpSocket::bind("0.0.0.0:9000").await?;
            let mut buffer = [0; 64];
            for _ in 0..each {
                socket.send_to(&[7; 4], ("server", 9000)).await?;
                socket.recv_from(&mut buffer).await?;
            }
            Ok(())
        });
    }
    sim.run().expect("a run without errors");
}

fn heartbeats(hosts: usize, seconds: u64) {
    let mut sim = sim();
    for node in 0..hosts {
        sim.client(format!("n{node}"), async move {
            let socket = std::sync::Arc::new(UdpSocket::bind("0.0.0.0:9000").await?);
            let receiver = socket.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 64];
                while receiver.recv_from(&mut buffer).await.is_ok() {}
            });
            for _ in 0..seconds * 10 {
                tokio::time::sleep(PERIOD).await;
                for other in (0..hosts).filter(|other| *other != node) {
                    socket.send_to(&[7; 4], (format!("n{other}"), 9000)).await?;
                }
            }
            Ok(())
        });
    }
    sim.run().expect("a run without errors");
}

fn main() {
    let scenario = Scenario::of_arguments();
    scenario.measure("turmoil", 1, || match scenario {
        Scenario::Echo { hosts, requests } => echo(hosts, requests),
        Scenario::Heartbeats { hosts, seconds } => heartbeats(hosts, seconds),
        Scenario::Tiny { hosts, runs } => (0..runs).for_each(|_| echo(hosts, hosts - 1)),
    });
}
