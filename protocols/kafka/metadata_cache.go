package kafka

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

// metadataCache keeps answers about all topics, encoded, until the catalog
// changes: with many partitions they are large, and every client asks for them
// again and again.
type metadataCache struct {
	mu      sync.Mutex
	catalog uint64 // version that the bodies are of
	bodies  map[metadataKey][]byte
}

// metadataKey is all that the body depends on beside the catalog.
type metadataKey struct {
	version              int16
	endpoint             endpoint
	clusterOps, topicOps bool
}

// maxCachedMetadata bounds the bodies kept; there are more kinds of answers than
// are ever used.
const maxCachedMetadata = 16

// serveAll answers with all topics. A body that is not there is made off the
// connection's loop.
func (c *metadataCache) serveAll(r *request, req *kmsg.MetadataRequest) {
	key := metadataKey{version: r.version, endpoint: r.srv.endpoint(r.conn),
		clusterOps: req.IncludeClusterAuthorizedOperations, topicOps: req.IncludeTopicAuthorizedOperations}
	if c.mu.TryLock() {
		body := c.lookup(r.srv.engine.Catalog().Version(), key)
		c.mu.Unlock()
		if body != nil {
			r.replyBody(body)
			return
		}
	}
	go func() { r.replyBody(c.make(r, req, key)) }()
}

func (c *metadataCache) lookup(version uint64, key metadataKey) []byte {
	if c.catalog != version {
		return nil
	}
	return c.bodies[key]
}

// make makes one body at a time; who comes second finds what the first has made.
func (c *metadataCache) make(r *request, req *kmsg.MetadataRequest, key metadataKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The version is read before the topics: what changes in between is made anew
	// by the next request.
	version := r.srv.engine.Catalog().Version()
	if body := c.lookup(version, key); body != nil {
		return body
	}
	resp := newMetadata(r, req)
	topics := r.srv.engine.Catalog().Topics()
	resp.Topics = make([]kmsg.MetadataResponseTopic, 0, len(topics))
	for _, t := range topics {
		if t.Name != catalog.MetadataTopic {
			resp.Topics = append(resp.Topics, r.srv.topicMetadata(req, t))
		}
	}
	body := resp.AppendTo(nil)
	if c.catalog != version || len(c.bodies) >= maxCachedMetadata {
		c.catalog, c.bodies = version, make(map[metadataKey][]byte)
	}
	c.bodies[key] = body
	return body
}
