//! The scenarios on madsim, with the latencies that it has by default.

use std::net::SocketAddr;
use std::sync::Arc;

use drawloom_bench_clusters::{PERIOD, Scenario};
use madsim::net::Endpoint;
use madsim::runtime::{Handle, Runtime};

fn address(host: usize) -> SocketAddr {
    format!("10.0.{}.{}:9000", host / 200, host % 200 + 1).parse().expect("an address")
}

fn echo(hosts: usize, requests: usize, seed: u64) {
    let runtime = Runtime::with_seed_and_config(seed, Default::default());
    runtime.block_on(async move {
        let handle = Handle::current();
        let server = handle.create_node().ip(address(0).ip()).build();
        server.spawn(async move {
            let endpoint = Endpoint::bind(address(0)).await.expect("an endpoint");
            let mut buffer = [0; 64];
            loop {
                let (length, from) = endpoint.recv_from(1, &mut buffer).await.expect("a request");
                endpoint.send_to(from, 1, &buffer[..length]).await.expect("sent");
            }
        });
        let clients: Vec<_> = (1..hosts)
            .map(|client| {
                let node = handle.create_node().ip(address(client).ip()).build();
                let each = requests / (hosts - 1);
                node.spawn(async move {
                    madsim::time::sleep(std::time::Duration::from_millis(1)).await;
                    let endpoint = Endpoint::bind(address(client)).await.expect("an endpoint");
                    let mut buffer = [0; 64];
                    for _ in 0..each {
                        endpoint.send_to(address(0), 1, &[7; 4]).await.expect("sent");
                        endpoint.recv_from(1, &mut buffer).await.expect("a reply");
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client that ends");
        }
    });
}

fn heartbeats(hosts: usize, seconds: u64) {
    let runtime = Runtime::with_seed_and_config(1, Default::default());
    runtime.block_on(async move {
        let handle = Handle::current();
        let nodes: Vec<_> = (0..hosts)
            .map(|host| {
                let node = handle.create_node().ip(address(host).ip()).build();
                node.spawn(async move {
                    let endpoint = Arc::new(Endpoint::bind(address(host)).await.expect("an endpoint"));
                    let receiver = endpoint.clone();
                    madsim::task::spawn(async move {
                        let mut buffer = [0; 64];
                        while receiver.recv_from(1, &mut buffer).await.is_ok() {}
                    });
                    for _ in 0..seconds * 10 {
                        madsim::time::sleep(PERIOD).await;
                        for other in (0..hosts).filter(|other| *other != host) {
                            endpoint.send_to(address(other), 1, &[7; 4]).await.expect("sent");
                        }
                    }
                })
            })
            .collect();
        for node in nodes {
            node.await.expect("a node that ends");
        }
    });
}

fn main() {
    let scenario = Scenario::of_arguments();
    scenario.measure("madsim", 1, || match scenario {
        Scenario::Echo { hosts, requests } => echo(hosts, requests, 1),
        Scenario::Heartbeats { hosts, seconds } => heartbeats(hosts, seconds),
        Scenario::Tiny { hosts, runs } => (0..runs).for_each(|run| echo(hosts, hosts - 1, run as u64)),
    });
}
