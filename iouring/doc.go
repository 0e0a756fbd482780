// Package iouring is a small io_uring for file I/O: reads, writes, syncs, and
// writes with a linked sync, on registered files and buffers.
//
// The kernel's structures come from github.com/iceber/iouring-go/syscall. That
// module's root package is not used: it does not link with Go 1.23 and later.
//
// # How it works
//
//	Submit ──> pending list ──> slot + entries ──> io_uring_enter ──> kernel
//	                               ^                                    │
//	           Done <── completion goroutine <── eventfd <── completions┘
//
// Any goroutine may submit. Entries are written under a mutex that is not held
// during the system call: while one goroutine is inside, others add entries and
// leave, and the first submits them too. A request takes a slot of a fixed
// table as long as the kernel has entries of it. The entries' user data is the
// slot's index and the stage (data or sync), never a pointer, and the slot keeps
// the buffer referenced. The submission queue has two entries for each slot and the
// completion queue four, so neither can overflow; requests beyond the slots wait
// in a list linked through themselves, and Submit neither spins nor waits.
//
// A WriteSync is a write and an fdatasync with a soft link: if the write fails or
// is short, the kernel cancels the sync. Should it take the write without the sync
// (out of memory between the two), the link is gone; the sync is then replaced by
// a Nop and sent again when the write is done.
//
// Requests that the kernel has no memory for at the moment are offered again. On
// any other error of io_uring_enter the ring fails: what it has not taken fails
// with the reason, what it has is completed.
//
// No thread of the kernel polls for us (no SQPOLL) and none of ours polls a
// device (no IOPOLL). COOP_TASKRUN is not set: a completion would wait until the
// submitting thread enters the kernel by itself, which a busy event loop may not do
// for milliseconds. SINGLE_ISSUER and DEFER_TASKRUN want one submitting thread,
// and Go's goroutines change threads.
//
// A thread that ends harms the requests it submitted: those the kernel has not
// started fail with ECANCELED, or with EFAULT since the thread's memory is gone
// (seen for a third of 64 writes). Go's threads end only when a goroutine ends
// that is locked to one: it must not end with requests in flight.
//
// # How completions are waited for
//
// By default the kernel counts completions in an eventfd that Go's netpoller
// watches, so the completion goroutine holds no thread. Config.BlockingWait
// makes it wait inside io_uring_enter. Durable 4 KiB writes, one at a time, both
// ways taking turns with a bare pwrite and fdatasync (2 CPUs in a virtual machine,
// Linux 6.18, five runs of 1000-1500 rounds, bare median 200-240 µs): eventfd
// 1.31-1.44, blocking wait 1.46-1.66 times the bare median. A sixth run, with a
// bare median of 126 µs, had it the other way round, 1.73 and 1.28. So the eventfd
// it is; the blocking wait remains as the way on if reading the eventfd ever fails.
//
// # What may be missing
//
// Nothing is concluded from the kernel's version. New asks the kernel for the
// operations it needs (IORING_REGISTER_PROBE) and fails with ErrUnsupported;
// SUBMIT_ALL, the two tables and the limit of worker threads are tried, and done
// without if refused. Registered memory counts against RLIMIT_MEMLOCK for users
// other than root: RegisterBuffer then fails with ENOMEM and the request goes
// without.
package iouring
