package catalog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// TopicID names a topic for as long as it lives; a topic that is created again
// under the same name has another (KIP-516).
type TopicID [16]byte

// String is the 22-character base64url form that Kafka's tools print.
func (id TopicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// IsZero tells whether id is the zero id, which no topic has.
func (id TopicID) IsZero() bool { return id == TopicID{} }

// ParseTopicID reads the 22-character form.
func ParseTopicID(text string) (TopicID, error) {
	var id TopicID
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("topic id %q: want 22 characters of base64url", text)
	}
	copy(id[:], b)
	return id, nil
}

// MarshalText and UnmarshalText make ids readable in events.
func (id TopicID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

func (id *TopicID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseTopicID(string(text))
	return err
}

// MetadataTopicID is the id of the metadata topic, Kafka's constant for it.
var MetadataTopicID = TopicID{15: 1}

// NewUUID draws a random (version 4) id. Ids that are reserved or whose text
// begins with '-', which command lines take for an option, are drawn again.
func NewUUID(random io.Reader) (TopicID, error) {
	for range 100 {
		var id TopicID
		if _, err := io.ReadFull(random, id[:]); err != nil {
			return id, fmt.Errorf("drawing a topic id: %w", err)
		}
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		if id.String()[0] != '-' {
			return id, nil
		}
	}
	return TopicID{}, errors.New("drawing a topic id: the source of randomness repeats itself")
}
