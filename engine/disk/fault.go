package disk

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"sync"
)

// FaultKind is a set of operations that a Rule applies to. An OpWriteSync is a
// FaultWrite and then a FaultSync.
type FaultKind uint16

// Operations of Dir and File.
const (
	FaultCreate FaultKind = 1 << iota
	FaultOpen
	FaultRead
	FaultWrite
	FaultSync
	FaultTruncate
	FaultAllocate
	FaultMkdir
	FaultRemove
	FaultRename
	FaultList
	FaultSyncDir
	FaultLock
	FaultUsage
	// FaultAny is every operation.
	FaultAny FaultKind = 1<<iota - 1
)

// Rule says which operations of a Fault go wrong, and how. All conditions must
// hold. An operation is subject to the first rule, in the order of Inject,
// that picks it.
type Rule struct {
	// Kinds are the operations meant.
	Kinds FaultKind
	// Name is a glob (path.Match) for the file's name inside the Dir; "" means
	// every file. A rename matches by either name.
	Name string
	// Skip lets so many matching operations pass first.
	Skip int
	// Times is how many operations are picked after that; 0 means no end.
	Times int
	// Probability picks each operation with this chance, 0 to 1; 0 means always.
	Probability float64

	// Gate, if not nil, holds the operation until it is open.
	Gate *Gate
	// Short lets a read or write transfer so many bytes before it fails, so that
	// the damage is on the disk; 0 transfers nothing. On a Direct file it must be
	// a multiple of BlockSize. Err is then io.ErrShortWrite
	// or io.ErrUnexpectedEOF unless set.
	Short int
	// Err is what the operation reports, wrapped with its name and path;
	// syscall.EIO and syscall.ENOSPC are the usual ones. If it is nil and Short
	// is 0, the operation is carried out (after the Gate).
	Err error
}

// Fault is a Dir that injects errors, short transfers and delays into another. It
// is for tests: it allocates for each operation.
type Fault struct {
	Dir // the disk below

	mu    sync.Mutex
	rng   *rand.Rand
	rules []*Injection
	held  sync.WaitGroup // operations behind gates
}

// Injection is a Rule in force.
type Injection struct {
	fault *Fault
	rule  Rule
	seen  int // matching operations
	hits  int // picked ones
}

// NewFault wraps dir. seed drives the rules' probabilities; print it when a test
// fails. Without rules it is dir. Close closes dir.
func NewFault(dir Dir, seed uint64) *Fault {
	return &Fault{Dir: dir, rng: rand.New(rand.NewPCG(seed, 0))}
}

// Inject puts a rule in force.
func (d *Fault) Inject(rule Rule) *Injection {
	if _, err := path.Match(rule.Name, ""); err != nil || rule.Kinds == 0 {
		panic(fmt.Sprintf("BUG: disk: rule %+v", rule))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i := &Injection{fault: d, rule: rule}
	d.rules = append(d.rules, i)
	return i
}

// Hits is the number of operations that the rule has picked so far.
func (i *Injection) Hits() int {
	i.fault.mu.Lock()
	defer i.fault.mu.Unlock()
	return i.hits
}

// Remove ends the rule. Operations it holds at its gate stay there.
func (i *Injection) Remove() {
	i.fault.mu.Lock()
	defer i.fault.mu.Unlock()
	rules := i.fault.rules
	for j := range rules {
		if rules[j] == i {
			i.fault.rules = append(rules[:j:j], rules[j+1:]...)
			return
		}
	}
}

// pick returns the rule that an operation is subject to, nil if there is none.
func (d *Fault) pick(kind FaultKind, names ...string) *Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range d.rules {
		if i.picks(kind, names) {
			return &i.rule
		}
	}
	return nil
}

// picks counts a matching operation and decides; the fault's mu is held.
func (i *Injection) picks(kind FaultKind, names []string) bool {
	r := &i.rule
	if r.Kinds&kind == 0 || !matchesAny(r.Name, names) {
		return false
	}
	i.seen++
	switch {
	case i.seen <= r.Skip,
		r.Times > 0 && i.hits >= r.Times,
		r.Probability > 0 && i.fault.rng.Float64() >= r.Probability:
		return false
	}
	i.hits++
	return true
}

func matchesAny(glob string, names []string) bool {
	if glob == "" {
		return true
	}
	for _, name := range names {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}

// before holds a blocking operation at its gate and returns the rule's error.
func (d *Fault) before(op string, kind FaultKind, names ...string) error {
	_, err := d.beforeTransfer(op, kind, names...)
	return err
}

// beforeTransfer is before for an operation that may be cut short: it returns how
// many bytes to transfer before the error is reported.
func (d *Fault) beforeTransfer(op string, kind FaultKind, names ...string) (short int, err error) {
	rule := d.pick(kind, names...)
	if rule == nil {
		return 0, nil
	}
	if rule.Gate != nil {
		rule.Gate.wait()
	}
	return rule.Short, opError(op, d.Path(), names[0], rule.err(kind))
}

// err is what the rule makes of an operation, nil if it is only delayed.
func (r *Rule) err(kind FaultKind) error {
	switch {
	case r.Err != nil || r.Short == 0:
		return r.Err
	case kind == FaultRead:
		return io.ErrUnexpectedEOF
	case kind == FaultWrite:
		return io.ErrShortWrite
	}
	return nil
}
