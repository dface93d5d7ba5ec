//! `std::sync::mpsc`.

parity! {
    messages_come_in_order covers [
        "sync::mpsc::channel", "sync::mpsc::Sender", "sync::mpsc::Sender::send",
        "sync::mpsc::Receiver", "sync::mpsc::Receiver::recv", "sync::mpsc::RecvError",
    ] {
        let (sender, receiver) = sync::mpsc::channel();
        let producer = thread::spawn(move || {
            for i in 0..3 {
                sender.send(i).unwrap();
            }
        });
        let got = [receiver.recv(), receiver.recv(), receiver.recv(), receiver.recv()];
        producer.join().unwrap();
        format!("{got:?}")
    }

    every_clone_is_a_sender covers ["sync::mpsc::Sender: Clone"] {
        let (sender, receiver) = sync::mpsc::channel();
        let producers: Vec<_> = (0..3)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(i).unwrap())
            })
            .collect();
        drop(sender);
        let mut got: Vec<i32> = receiver.iter().collect();
        got.sort_unstable();
        producers.into_iter().for_each(|p| p.join().unwrap());
        format!("{got:?} {:?}", receiver.recv())
    }

    queued_messages_outlive_the_senders covers ["sync::mpsc::Receiver::try_recv", "sync::mpsc::TryRecvError"] {
        let (sender, receiver) = sync::mpsc::channel();
        let empty = receiver.try_recv();
        sender.send(1).unwrap();
        drop(sender);
        format!("{empty:?} {:?} {:?}", receiver.try_recv(), receiver.try_recv())
    }

    try_recv_tells_empty_from_disconnected covers [
        "sync::mpsc::TryRecvError::Empty", "sync::mpsc::TryRecvError::Disconnected",
    ] {
        let (sender, receiver) = sync::mpsc::channel::<()>();
        let empty = receiver.try_recv() == Err(sync::mpsc::TryRecvError::Empty);
        drop(sender);
        format!("{empty} {}", receiver.try_recv() == Err(sync::mpsc::TryRecvError::Disconnected))
    }

    a_send_without_receiver_gives_the_message_back covers ["sync::mpsc::SendError"] {
        let (sender, receiver) = sync::mpsc::channel();
        drop(receiver);
        let error = sender.send("it").unwrap_err();
        format!("{error:?} {error} {}", error.0)
    }

    dropping_the_receiver_drops_what_is_queued covers [] {
        struct Noisy(sync::Arc<sync::Mutex<u32>>);
        impl Drop for Noisy {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let dropped = sync::Arc::new(sync::Mutex::new(0));
        let (sender, receiver) = sync::mpsc::sync_channel(2);
        sender.send(Noisy(dropped.clone())).unwrap();
        sender.send(Noisy(dropped.clone())).unwrap();
        drop(receiver);
        let after_receiver = *dropped.lock().unwrap();
        let returned = sender.send(Noisy(dropped.clone()));
        let after_send = *dropped.lock().unwrap();
        drop(returned);
        let at_last = *dropped.lock().unwrap();
        format!("{after_receiver} {after_send} {at_last}")
    }

    a_bounded_channel_fills covers [
        "sync::mpsc::sync_channel", "sync::mpsc::SyncSender", "sync::mpsc::SyncSender::send",
        "sync::mpsc::SyncSender::try_send", "sync::mpsc::TrySendError",
        "sync::mpsc::TrySendError::Full", "sync::mpsc::TrySendError::Disconnected",
    ] {
        let (sender, receiver) = sync::mpsc::sync_channel(2);
        sender.send(1).unwrap();
        sender.try_send(2).unwrap();
        let full = sender.try_send(3);
        let first = receiver.recv();
        let room = sender.try_send(4);
        drop(receiver);
        let closed = sender.try_send(5);
        format!("{full:?} {first:?} {room:?} {closed:?}")
    }

    a_full_channel_makes_its_senders_wait covers ["sync::mpsc::SyncSender: Clone"] {
        let (sender, receiver) = sync::mpsc::sync_channel(1);
        let producers: Vec<_> = (0..3)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || (0..3).for_each(|j| sender.send(10 * i + j).unwrap()))
            })
            .collect();
        drop(sender);
        let got: Vec<i32> = receiver.iter().collect();
        producers.into_iter().for_each(|p| p.join().unwrap());
        let in_order = (0..3).all(|i| got.iter().filter(|m| **m / 10 == i).copied().eq(10 * i..10 * i + 3));
        format!("{} {in_order}", got.len())
    }

    a_rendezvous_hands_over covers [] {
        let (sender, receiver) = sync::mpsc::sync_channel(0);
        let refused = sender.try_send(0);
        let others: Vec<_> = (1..3)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(i).is_ok())
            })
            .collect();
        drop(sender);
        let mut got: Vec<i32> = receiver.iter().collect();
        got.sort_unstable();
        let sent: Vec<bool> = others.into_iter().map(|o| o.join().unwrap()).collect();
        format!("{refused:?} {got:?} {sent:?}")
    }

    a_rendezvous_sends_nothing_to_nobody covers [] {
        let (sender, receiver) = sync::mpsc::sync_channel(0);
        let other = thread::spawn(move || sender.send(1));
        drop(receiver);
        format!("{:?}", other.join().unwrap())
    }

    a_waiting_send_gets_its_own_message_back covers [] {
        let (sender, receiver) = sync::mpsc::sync_channel(1);
        sender.send("first").unwrap();
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.send("second"));
        drop(receiver);
        format!("{:?} {:?}", other.join().unwrap(), sender.send("third"))
    }

    a_receive_gives_up covers [
        "sync::mpsc::Receiver::recv_timeout", "sync::mpsc::RecvTimeoutError",
        "sync::mpsc::RecvTimeoutError::Timeout", "sync::mpsc::RecvTimeoutError::Disconnected",
    ] {
        let (sender, receiver) = sync::mpsc::channel();
        let short = std::time::Duration::from_millis(1);
        let late = receiver.recv_timeout(short);
        sender.send(1).unwrap();
        let there = receiver.recv_timeout(short);
        let late_again = receiver.recv_timeout(std::time::Duration::ZERO);
        sender.send(2).unwrap();
        drop(sender);
        let kept = receiver.recv_timeout(std::time::Duration::MAX);
        format!("{late:?} {there:?} {late_again:?} {kept:?} {:?}", receiver.recv_timeout(short))
    }

    iterators_end_with_the_senders covers [
        "sync::mpsc::Receiver::iter", "sync::mpsc::Iter", "sync::mpsc::IntoIter",
        "sync::mpsc::Receiver: IntoIterator", "sync::mpsc::&Receiver: IntoIterator",
        "sync::mpsc::Iter: Iterator", "sync::mpsc::IntoIter: Iterator",
    ] {
        let (sender, receiver) = sync::mpsc::channel();
        (0..5).for_each(|i| sender.send(i).unwrap());
        drop(sender);
        let one = receiver.iter().next();
        let mut by_reference = Vec::new();
        for message in &receiver {
            by_reference.push(message);
            if message == 2 {
                break;
            }
        }
        let by_value: Vec<i32> = receiver.into_iter().collect();
        format!("{one:?} {by_reference:?} {by_value:?}")
    }

    try_iter_takes_what_is_there covers [
        "sync::mpsc::Receiver::try_iter", "sync::mpsc::TryIter", "sync::mpsc::TryIter: Iterator",
    ] {
        let (sender, receiver) = sync::mpsc::channel();
        (0..3).for_each(|i| sender.send(i).unwrap());
        let there: Vec<i32> = receiver.try_iter().collect();
        let nothing: Vec<i32> = receiver.try_iter().collect();
        drop(sender);
        format!("{there:?} {nothing:?}")
    }

    ends_show_nothing_of_their_messages covers [
        "sync::mpsc::Sender: Debug", "sync::mpsc::SyncSender: Debug", "sync::mpsc::Receiver: Debug",
        "sync::mpsc::Iter: Debug", "sync::mpsc::TryIter: Debug", "sync::mpsc::IntoIter: Debug",
    ] {
        struct Mute;
        let (sender, receiver) = sync::mpsc::channel::<Mute>();
        let (sync_sender, _receiver) = sync::mpsc::sync_channel::<Mute>(1);
        let borrowed = format!("{sender:?} {sync_sender:?} {receiver:?}");
        let (sender, of_numbers) = sync::mpsc::channel::<u8>();
        drop(sender);
        let iterators = format!("{:?} {:?}", of_numbers.iter(), of_numbers.try_iter());
        format!("{borrowed} {iterators} {:?}", of_numbers.into_iter())
    }

    errors_are_errors covers [] {
        let errors: [Box<dyn std::error::Error>; 5] = [
            Box::new(sync::mpsc::RecvError),
            Box::new(sync::mpsc::TryRecvError::from(sync::mpsc::RecvError)),
            Box::new(sync::mpsc::RecvTimeoutError::from(sync::mpsc::RecvError)),
            Box::new(sync::mpsc::SendError(1)),
            Box::new(sync::mpsc::TrySendError::from(sync::mpsc::SendError(1))),
        ];
        errors.map(|error| error.to_string()).join("; ")
    }

    ends_travel_as_far_as_in_std covers [
        "sync::mpsc::Sender: Send", "sync::mpsc::Sender: Sync", "sync::mpsc::SyncSender: Send",
        "sync::mpsc::Receiver: Send",
    ] {
        fn sent<T: Send>() {}
        fn shared<T: Sync>() {}
        fn unwound<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        type Unshared = std::cell::Cell<u8>;
        sent::<sync::mpsc::Sender<Unshared>>();
        shared::<sync::mpsc::Sender<Unshared>>();
        sent::<sync::mpsc::SyncSender<Unshared>>();
        shared::<sync::mpsc::SyncSender<Unshared>>();
        sent::<sync::mpsc::Receiver<Unshared>>();
        unwound::<sync::mpsc::Sender<Unshared>>();
        unwound::<sync::mpsc::SyncSender<Unshared>>();
        unwound::<sync::mpsc::Receiver<Unshared>>();
        String::new()
    }
}
