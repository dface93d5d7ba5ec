//! `std::cell`.

parity! {
    unsafe_cell covers [
        "cell::UnsafeCell::new", "cell::UnsafeCell::get", "cell::UnsafeCell::get_mut", "cell::UnsafeCell::into_inner",
        "cell::UnsafeCell::raw_get", "cell::UnsafeCell::from_mut", "cell::UnsafeCell: {Debug,Default,From}",
    ] {
        let mut cell = const { cell::UnsafeCell::new(1_u32) };
        // SAFETY: nobody else has the cell.
        unsafe { *cell.get() += 1 };
        *cell.get_mut() += 1;
        let pointer: *const cell::UnsafeCell<u32> = &cell;
        // SAFETY: as above.
        unsafe { *cell::UnsafeCell::raw_get(pointer) += 1 };
        let mut plain = 1;
        *cell::UnsafeCell::from_mut(&mut plain).get_mut() += 1;
        let other: (cell::UnsafeCell<u32>, cell::UnsafeCell<u8>) = (5.into(), Default::default());
        let shown = format!("{cell:?}");
        format!("{shown} {} {plain} {} {}", cell.into_inner(), other.0.into_inner(), other.1.into_inner())
    }

    unsafe_cell_may_be_unsized covers ["cell::UnsafeCell"] {
        let cell: Box<cell::UnsafeCell<[u8]>> = Box::new(cell::UnsafeCell::new([1, 2, 3]));
        // SAFETY: nobody else has the cell.
        format!("{:?}", unsafe { &*cell.get() })
    }

    cell_is_set_and_read covers [
        "cell::Cell::new", "cell::Cell::get", "cell::Cell::set", "cell::Cell::replace", "cell::Cell::take",
        "cell::Cell::swap", "cell::Cell::into_inner", "cell::Cell::get_mut",
    ] {
        let mut a = cell::Cell::new(1);
        let b = cell::Cell::new(2);
        a.set(a.get() + 10);
        a.swap(&b);
        a.swap(&a);
        let old = b.replace(5);
        *a.get_mut() += 1;
        format!("{} {} {old} {}", b.take(), b.get(), a.into_inner())
    }

    cell_by_pointer covers ["cell::Cell::as_ptr", "cell::Cell::from_mut", "cell::Cell::as_slice_of_cells"] {
        let cell = cell::Cell::new(1);
        // SAFETY: nobody else has the cell.
        unsafe { *cell.as_ptr() = 2 };
        let mut numbers = [1, 2, 3];
        let of_mut = cell::Cell::from_mut(&mut numbers[..]);
        of_mut.as_slice_of_cells()[0].set(7);
        let array: &cell::Cell<[i32]> = &cell::Cell::new([4, 5]);
        array.as_slice_of_cells()[1].set(6);
        let sum: i32 = array.as_slice_of_cells().iter().map(|c| c.get()).sum();
        format!("{} {numbers:?} {sum}", cell.get())
    }

    cell_has_std_s_traits covers ["cell::Cell: {Clone,Debug,Default,Eq,From,Ord,PartialEq,PartialOrd,Send}"] {
        fn is_send<T: Send>(_: &T) {}
        let a: cell::Cell<u8> = 3.into();
        let b = cell::Cell::<u8>::default();
        is_send(&a);
        format!("{:?} {} {:?} {:?} {}", a.clone(), a == b, a.partial_cmp(&b), b.cmp(&a), a > b)
    }

    the_others_are_std_s covers [
        "cell::RefCell", "cell::Ref", "cell::RefMut", "cell::OnceCell", "cell::LazyCell", "cell::BorrowError",
        "cell::BorrowMutError",
    ] {
        let cell = cell::RefCell::new(1);
        let shared: cell::Ref<'_, i32> = cell.borrow();
        let refused: cell::BorrowMutError = cell.try_borrow_mut().map(|_| ()).unwrap_err();
        drop(shared);
        let exclusive: cell::RefMut<'_, i32> = cell.borrow_mut();
        let unread: cell::BorrowError = cell.try_borrow().map(|_| ()).unwrap_err();
        drop(exclusive);
        let once = cell::OnceCell::new();
        let lazy = cell::LazyCell::new(|| 4);
        format!("{refused} {unread} {} {}", once.get_or_init(|| 3), *lazy)
    }
}
