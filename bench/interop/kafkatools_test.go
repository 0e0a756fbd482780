//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Main classes of Kafka's command-line tools, under the names of their scripts.
var kafkaClasses = map[string]string{
	"kafka-topics":           "org.apache.kafka.tools.TopicCommand",
	"kafka-configs":          "kafka.admin.ConfigCommand",
	"kafka-consumer-groups":  "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
	"kafka-get-offsets":      "org.apache.kafka.tools.GetOffsetShell",
	"kafka-delete-records":   "org.apache.kafka.tools.DeleteRecordsCommand",
	"kafka-log-dirs":         "org.apache.kafka.tools.LogDirsCommand",
	"kafka-producer-perf":    "org.apache.kafka.tools.ProducerPerformance",
	"kafka-consumer-perf":    "org.apache.kafka.tools.ConsumerPerformance",
	"kafka-e2e-latency":      "org.apache.kafka.tools.EndToEndLatency",
	"kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
	"kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
	"verifiable-producer":    "org.apache.kafka.tools.VerifiableProducer",
	"verifiable-consumer":    "org.apache.kafka.tools.VerifiableConsumer",
	"kafka-broker-versions":  "org.apache.kafka.tools.BrokerApiVersionsCommand",
	"kafka-cluster":          "org.apache.kafka.tools.ClusterTool",
	"client-compatibility":   "org.apache.kafka.tools.ClientCompatibilityTest",
}

var (
	jarsOnce sync.Once
	jarsErr  string
)

var pomVersion = regexp.MustCompile(`<kafka\.version>(.*)</kafka\.version>`)

// kafkaJars is the directory of Kafka's jars, which Maven fills once.
func kafkaJars(t *testing.T) string {
	t.Helper()
	pom, err := filepath.Abs("testdata/kafka-tools/pom.xml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pom)
	if err != nil {
		t.Fatal(err)
	}
	dir := cacheDir(t, "kafka-tools-"+pomVersion.FindStringSubmatch(string(text))[1])
	jarsOnce.Do(func() { jarsErr = fetchJars(pom, dir) })
	if jarsErr != "" {
		t.Fatal(jarsErr)
	}
	return dir
}

// fetchJars fills a directory beside dir and renames it, so that dir is whole if
// it exists.
func fetchJars(pom, dir string) (problem string) {
	if _, err := os.Stat(dir); err == nil {
		return ""
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err.Error()
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), "partial-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(partial)
	out, err := exec.Command("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+partial).CombinedOutput()
	if err != nil {
		return "fetch Kafka's tools with Maven: " + err.Error() + "\n" + string(out)
	}
	if err := os.Rename(partial, dir); err != nil {
		return err.Error()
	}
	return ""
}

// javaArgs is the command line of a Kafka tool after "java".
func javaArgs(t *testing.T, tool string, args ...string) []string {
	t.Helper()
	class := kafkaClasses[tool]
	if class == "" {
		t.Fatalf("BUG: no class for %s", tool)
	}
	return append([]string{
		"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile=testdata/kafka-tools/log4j2.xml",
		"-cp", filepath.Join(kafkaJars(t), "*"), class, "--bootstrap-server", bootstrap,
	}, args...)
}

func kafka(t *testing.T, tool string, args ...string) outcome {
	t.Helper()
	return kafkaWith(t, "", tool, args...)
}

func kafkaWith(t *testing.T, stdin, tool string, args ...string) outcome {
	t.Helper()
	return run(t, stdin, "java", javaArgs(t, tool, args...)...)
}

// javaProcess is a Kafka tool that runs until it is told to end.
type javaProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	out *lineBuffer
}

func startKafka(t *testing.T, tool string, args ...string) *javaProcess {
	t.Helper()
	p := &javaProcess{t: t, cmd: exec.Command("java", javaArgs(t, tool, args...)...), out: newLineBuffer()}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

// expect waits until the output contains want.
func (p *javaProcess) expect(want string) {
	p.t.Helper()
	if !p.out.waitFor(want, commandTimeout) {
		p.t.Fatalf("%s did not print %q:\n%s", p.cmd, want, p.out)
	}
}

// lineBuffer collects output and wakes whoever waits for a piece of it.
type lineBuffer struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{} // closed and replaced on each write
}

func newLineBuffer() *lineBuffer { return &lineBuffer{changed: make(chan struct{})} }

func (b *lineBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
	return b.text.Write(p)
}

func (b *lineBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *lineBuffer) waitFor(want string, patience time.Duration) bool {
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		found, changed := strings.Contains(b.text.String(), want), b.changed
		b.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-changed:
		case <-deadline:
			return false
		}
	}
}
