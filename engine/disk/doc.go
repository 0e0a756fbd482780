// Package disk is the only package of spate that touches files. A Dir is one
// volume's directory; everything above it (log, index, catalog) does all I/O
// through a Dir, so that the same code runs on the real disk, on a crashable
// in-memory disk and behind an error injector.
//
// # Backends
//
//	psync     pread, pwrite and fdatasync on a few goroutines, those for reads
//	          apart from those for writes. Works everywhere.
//	io_uring  two rings, one for writes and one for reads; a durable write is a
//	          write with a linked sync in one submission.
//	mixed     reads as io_uring, writes as psync. What Open chooses by default.
//	mem       Mem: in memory, with CrashClone.
//
// Fault wraps any of them. Synchronous calls of File are plain system calls in
// all backends: a hot read or a small file gains nothing from a ring.
//
// # Why mixed is the default
//
// Measured on 2 CPUs in a virtual machine (Linux 6.18, ext4, O_DIRECT on written
// extents, other load on the machine, so only ratios mean anything):
//
//	durable 4 KiB, one at a time, against pwrite+fdatasync in the caller
//	  (medians of 800-1500 writes, eight runs, from the submitting goroutine and
//	  back to it; bare median 200-240 µs)
//	    psync 1.07-1.15   io_uring 1.29-1.44   io_uring, blocking wait 1.46-1.66
//	  one run, with a bare median of 126 µs: 1.45, 1.73, 1.28
//
//	operations per second, io_uring / psync, the next submitted by Done
//	    durable   4 KiB  depth 1 0.36-0.80   depth 4 0.84-1.23
//	    durable  64 KiB  depth 1 0.66-1.12   depth 4 0.92-1.45
//	    durable   1 MiB  depth 1 0.91-1.13   depth 4 0.99-1.53
//	    read      4 KiB  depth 1 1.3   depth 8 1.4   depth 32 2.8
//	    read    128 KiB  depth 1 1.1   depth 4 1.2
//
// A sync in a ring always goes to a kernel worker thread, and its completion
// through the submitting thread to the one that takes completions: three wake-ups
// where a blocking worker has one. RWF_DSYNC instead of the linked sync and
// forcing the pair onto a worker thread (IOSQE_ASYNC) were tried for a few runs and
// made no difference beyond the noise. The psync workers also serve all waiting writes of
// a file with one sync, which is what makes depth 4 a draw. BenchmarkDurableAppend
// and BenchmarkDepth measure it again; on another disk the answer may differ, and
// Options.Backend takes it.
package disk
