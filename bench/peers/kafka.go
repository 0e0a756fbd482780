package peers

import (
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// KafkaVersion is the pinned version of the peer; kafka-pom.xml names it too.
const KafkaVersion = "4.3.1"

//go:embed kafka-pom.xml
var kafkaPOM []byte

// KafkaOptions say how Kafka is started.
type KafkaOptions struct {
	// Dir holds data, configuration and log; it is created and formatted if needed.
	Dir string
	// HeapMiB is the JVM's heap; 0 is 2048.
	HeapMiB int
	// Properties are further lines of server.properties.
	Properties []string
	// Durability is for the report; empty: the default's.
	Durability string
}

// InstallKafka fetches the jars once and gives the directory that holds them.
func InstallKafka() (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	lib := filepath.Join(cache, "kafka-"+KafkaVersion)
	done := filepath.Join(lib, ".complete")
	if _, err := os.Stat(done); err == nil {
		return lib, nil
	}
	work, err := os.MkdirTemp("", "spate-kafka-pom-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	pom := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(pom, kafkaPOM, 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+lib)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetching Kafka %s with mvn: %w\n%s", KafkaVersion, err, out)
	}
	return lib, os.WriteFile(done, nil, 0o644)
}

// The cluster id is a UUID in Kafka's own notation.
const kafkaClusterID = "c3BhdGUtYmVuY2gtcGVlcg"

const log4j2XML = `<Configuration><Appenders><Console name="out"><PatternLayout pattern="%d %p %m %c%n"/></Console></Appenders>
<Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers></Configuration>
`

// kafkaReadyTimeout covers recovery after a kill with thousands of partitions.
const kafkaReadyTimeout = 5 * time.Minute

// StartKafka starts one node that is broker and controller, and waits until it accepts connections.
func StartKafka(o KafkaOptions) (*Peer, error) {
	lib, err := InstallKafka()
	if err != nil {
		return nil, err
	}
	if o.HeapMiB == 0 {
		o.HeapMiB = 2048
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	addr, config, err := kafkaConfig(o)
	if err != nil {
		return nil, err
	}
	p := &Peer{Name: "kafka " + KafkaVersion, Addr: addr, Dir: o.Dir, Durability: o.Durability}
	if p.Durability == "" {
		p.Durability = "page cache, no fsync (default)"
	}
	p.Config = fmt.Sprintf("-Xmx%dm, %s", o.HeapMiB, strings.Join(strings.Fields(config), " "))
	java := javaCommand(lib, o.Dir)
	if err := formatKafka(java, o.Dir); err != nil {
		return nil, err
	}
	heap := fmt.Sprint(o.HeapMiB, "m")
	cmd := java("-Xms"+heap, "-Xmx"+heap, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "kafka.Kafka", filepath.Join(o.Dir, "server.properties"))
	if err := p.launch(cmd, filepath.Join(o.Dir, "broker.log")); err != nil {
		return nil, err
	}
	return p, p.awaitPort(kafkaReadyTimeout)
}

func kafkaConfig(o KafkaOptions) (addr, config string, err error) {
	if addr, err = FreeAddr(); err != nil {
		return "", "", err
	}
	controller, err := FreeAddr()
	if err != nil {
		return "", "", err
	}
	lines := append([]string{
		"process.roles=broker,controller",
		"node.id=1",
		"controller.quorum.voters=1@" + controller,
		"listeners=PLAINTEXT://" + addr + ",CONTROLLER://" + controller,
		"advertised.listeners=PLAINTEXT://" + addr,
		"controller.listener.names=CONTROLLER",
		"log.dirs=" + filepath.Join(o.Dir, "data"),
		"offsets.topic.replication.factor=1",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"share.coordinator.state.topic.replication.factor=1",
		"share.coordinator.state.topic.min.isr=1",
	}, o.Properties...)
	config = strings.Join(lines, "\n") + "\n"
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "log4j2.xml"), []byte(log4j2XML), 0o644); err != nil {
		return "", "", err
	}
	return addr, config, os.WriteFile(filepath.Join(o.Dir, "server.properties"), []byte(config), 0o644)
}

// javaCommand makes commands with the peer's classes and log settings.
func javaCommand(lib, dir string) func(args ...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		return exec.Command("java", append([]string{"-Dlog4j2.configurationFile=" + filepath.Join(dir, "log4j2.xml"),
			"-cp", filepath.Join(lib, "*")}, args...)...)
	}
}

func formatKafka(java func(...string) *exec.Cmd, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "data", "meta.properties")); err == nil {
		return nil
	}
	cmd := java("-Xmx256m", "kafka.tools.StorageTool", "format", "-t", kafkaClusterID, "-c", filepath.Join(dir, "server.properties"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting Kafka's directory: %w\n%s", err, out)
	}
	return nil
}

func (p *Peer) awaitPort(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		c, err := net.DialTimeout("tcp", p.Addr, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.done:
			return p.failed("ended before it was ready")
		case <-time.After(20 * time.Millisecond):
		}
	}
	err := p.failed("was not ready in " + timeout.String())
	_ = p.Kill()
	return err
}
