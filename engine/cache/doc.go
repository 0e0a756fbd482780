// Package cache holds log data in memory: Hot is the tail of the log as it was
// written, served by reference; Cold holds chunks read back from the disk and
// owns the volume's read slots.
//
// Both speak of log positions (LSN): the segment's id in the upper 32 bits, the
// byte offset in that segment in the lower 32. An id is never used twice, so a
// position names the same bytes for ever and a stale cache entry can only be
// useless, not wrong.
package cache
