// Package index knows where in the commit log each stream's records are.
//
// A Stream is the index of one partition: a list of parts, one for each segment
// that holds something of it, each with its runs. A run is a contiguous piece of
// the log that holds consecutive batches of the stream; a group commit makes one
// run for each stream in it.
//
// The runs of the segment that is being written are in memory. When a segment is
// sealed, all its runs go to a file of its own (index/SSSSSSSS.idx) and leave
// memory; the parts stay, at a few dozen bytes for each stream and segment. So
// restart reads one table for each sealed segment and scans only what was
// written since, and memory depends on the segments, not on the records. The
// files are derived: one that is missing or damaged is made again by scanning its
// segment.
//
// # Segment index file
//
// Little-endian. One table entry for each stream of the segment, sorted by id:
//
//	 0  magic "SPTEIDX1"
//	 8  version u32
//	12  crc u32          CRC32C of all that follows
//	16  segment id u32
//	20  streams u32      entries of the table
//	24  runs u32         entries of the run area
//	28  blob bytes u32   of the blob area
//	32  table            72 bytes each, below
//	    run area         32 bytes each: base offset i64, LSN u64, max timestamp
//	                     i64, bytes u32 (0: damaged, lost), leader epoch i32
//	    blob area        per-stream state as of the end of the segment
//
// Table entry:
//
//	 0  stream u64
//	 8  base offset i64      first offset of the stream in this segment
//	16  end offset i64       one past its last
//	24  max timestamp i64
//	32  bytes u64            of payload
//	40  log start i64        moved to here by this segment's last log start
//	                         entry of the stream; -1: there is none
//	48  first run u32        in the run area
//	52  runs u32
//	56  blob at u32          in the blob area
//	60  blob bytes u32       producer state of the stream; 0: unchanged
//	64  reserved 8
package index
