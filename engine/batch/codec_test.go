package batch

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// payloads are contents that codecs treat differently: empty, tiny, block sizes,
// incompressible.
func payloads() [][]byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	text := bytes.Repeat([]byte("all work and no play makes spate a dull broker. "), 10_000)
	return [][]byte{nil, {1}, []byte("spate"), text[:32<<10], text[:64<<10], text[:64<<10+1], text, noise,
		append(bytes.Clone(noise[:70_000]), text...), make([]byte, 1<<20)}
}

func TestCodecsAllLevels(t *testing.T) {
	levels := map[Codec][]int{Gzip: {1, 6, 9}, LZ4: {1, 9, 12, 17}, Zstd: {-5, 1, 3, 10, 22}}
	for _, c := range allCodecs {
		for _, level := range append(levels[c], DefaultLevel) {
			for i, p := range payloads() {
				z := Compress([]byte("x"), c, level, p)
				out, err := Decompress([]byte("y"), c, z[1:], len(p))
				if err != nil || !bytes.Equal(out[1:], p) {
					t.Fatalf("%v level %d payload %d: %d bytes became %d: %v", c, level, i, len(p), len(out)-1, err)
				}
			}
		}
	}
}

// TestLZ4Interop: the lz4 package's own stream reader and writer agree with the
// frames made and read here, for every block size, with and without checksums.
func TestLZ4Interop(t *testing.T) {
	for i, p := range payloads() {
		got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(Compress(nil, LZ4, DefaultLevel, p))))
		if err != nil || !bytes.Equal(got, p) {
			t.Fatalf("payload %d read by lz4.Reader: %v", i, err)
		}
		for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb} {
			for _, sums := range []bool{false, true} {
				var z bytes.Buffer
				w := lz4.NewWriter(&z)
				if err := w.Apply(lz4.BlockSizeOption(size), lz4.BlockChecksumOption(sums), lz4.ChecksumOption(sums),
					lz4.SizeOption(uint64(len(p)))); err != nil {
					t.Fatal(err)
				}
				w.Write(p)
				w.Close()
				out, err := Decompress(nil, LZ4, z.Bytes(), len(p))
				if err != nil || !bytes.Equal(out, p) {
					t.Fatalf("payload %d, block size %v, checksums %v: %v", i, size, sums, err)
				}
			}
		}
	}
}

// TestXXH32 uses published values of the reference implementation.
func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff,
		"Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("xxh32(%q) = %08x, want %08x", in, got, want)
		}
	}
}

// TestBombs: a small input that claims or makes much output costs memory only up
// to the cap.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 64<<20)
	for _, c := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		z := Compress(nil, c, DefaultLevel, zeros)
		out, err := Decompress(nil, c, z, 1<<20)
		if e, ok := err.(*Error); !ok || e.Kind != TooLarge || cap(out) > 0 {
			t.Errorf("%v: %v", c, err)
		}
	}
	// A raw snappy block that claims 2 GiB.
	lie := binary.AppendUvarint(nil, 2<<30)
	if _, err := Decompress(nil, Snappy, append(lie, 0), 1<<31); err == nil {
		t.Error("a lying snappy length was believed")
	}
}
