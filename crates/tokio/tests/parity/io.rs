//! `tokio::io`.

use crate::compare::parity;

parity!(a_duplex_goes_both_ways => [r#"("ping", "pong")"#] {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut client, mut server) = tokio::io::duplex(2);
    let task = tokio::spawn(async move {
        let mut heard = [0; 4];
        server.read_exact(&mut heard).await.unwrap();
        server.write_all(b"pong").await.unwrap();
        String::from_utf8(heard.to_vec()).unwrap()
    });
    client.write_all(b"ping").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    (task.await.unwrap(), answer)
});

parity!(writing_to_nobody_fails => ["(BrokenPipe, 0)"] {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut client, server) = tokio::io::duplex(8);
    drop(server);
    let kind = client.write_all(b"x").await.unwrap_err().kind();
    (kind, client.read(&mut [0; 4]).await.unwrap())
});

parity!(a_simplex_goes_one_way => [r#""one line""#] {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
    let (read, mut write) = tokio::io::simplex(4);
    let task = tokio::spawn(async move {
        write.write_all(b"one line\n").await.unwrap();
        write.shutdown().await.unwrap();
    });
    let line = tokio::io::BufReader::new(read).lines().next_line().await.unwrap().unwrap();
    task.await.unwrap();
    line
});
