// Package commitlog is the log that all partitions of one volume share: one
// sequential stream of blocks, written by group commit.
//
// # Positions
//
// A log sequence number (LSN) is a position: the segment's id in the upper 32
// bits, the byte offset in the segment in the lower 32. Ids ascend and are never
// used twice, so LSNs order everything ever written and are addresses at the
// same time.
//
// # Segments
//
// A segment lives in a slot file (log/NNNNNN.seg) of fixed size. When
// everything in a segment is dead its slot is used for a later segment with a
// new id: writing into blocks that the filesystem has already written costs half
// of what fresh ones cost, and no metadata. A slot file begins with one 4 KiB
// header block (integers are little-endian):
//
//	 0  magic "SPTESEG1"          a slot file of spate's
//	 8  version u32               of this format; a newer one is refused
//	12  crc u32                   CRC32C of bytes 16..64
//	16  nonce u64                 the volume's secret, see below
//	24  segment id u32            0: the slot is free
//	28  state u32                 reserved
//	32  slot bytes u64            the file's size when it was made
//	40  created ms i64
//	48  reserved 16
//
// # Blocks
//
// Each group is one block, aligned to 4 KiB and padded to a multiple of it, so
// that an acknowledged sector is never written again:
//
//	+--------+-----------+----------------------+-----+-----------+---------+
//	| header | directory | payloads, sorted by  | pad | directory | trailer |
//	|  64 B  |  48 B × n | stream, no gaps      |     |   again   |  64 B   |
//	+--------+-----------+----------------------+-----+-----------+---------+
//
// Header, and trailer with the same fields but for the magic:
//
//	 0  magic u32 "SPBK"/"SPBT"   block start/end
//	 4  crc u32                   CRC32C of nonce, bytes 8..64 and the directory
//	 8  lsn u64                   of the block; recycled garbage has an old one
//	16  durable u64               everything below was synced when this block was
//	                              sealed: damage below it is rot, above it a torn tail
//	24  prev u64                  LSN of the block before: a hole in the chain shows
//	32  block bytes u32           whole block, multiple of 4096
//	36  entries u32               n
//	40  sealed ms i64             for people who read a dump
//	48  reserved 16
//
// The directory stands twice because it alone says which offsets of which
// partitions a block holds: with the front damaged, the copy still names what is
// lost, and no offset is given out a second time.
//
// Directory entry:
//
//	 0  stream u64                the partition's stream id
//	 8  base offset i64
//	16  max timestamp i64         ms
//	24  pos u32                   of the payload, from the block's start
//	28  bytes u32                 of the payload
//	32  span u32                  offsets taken; 0 for control entries
//	36  crc u32                   CRC32C of the payload: damage stays in one entry
//	40  leader epoch i32
//	44  kind u8
//	45  reserved 3
//
// The nonce is random for each volume and part of every header's CRC, so that
// bytes which a client sends can never pass for a block.
package commitlog
