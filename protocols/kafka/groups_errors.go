package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine/groups"
)

// groupCodes are Kafka's codes for the coordinator's errors.
var groupCodes = []struct {
	err  error
	code int16
}{
	{groups.ErrUnknownMember, kerr.UnknownMemberID.Code},
	{groups.ErrMemberIDRequired, kerr.MemberIDRequired.Code},
	{groups.ErrIllegalGeneration, kerr.IllegalGeneration.Code},
	{groups.ErrInconsistentProtocol, kerr.InconsistentGroupProtocol.Code},
	{groups.ErrInvalidSession, kerr.InvalidSessionTimeout.Code},
	{groups.ErrRebalancing, kerr.RebalanceInProgress.Code},
	{groups.ErrFencedInstance, kerr.FencedInstanceID.Code},
	{groups.ErrGroupFull, kerr.GroupMaxSizeReached.Code},
	{groups.ErrInvalidGroup, kerr.InvalidGroupID.Code},
	{groups.ErrGroupNotFound, kerr.GroupIDNotFound.Code},
	{groups.ErrGroupNotEmpty, kerr.NonEmptyGroup.Code},
	{groups.ErrSubscribed, kerr.GroupSubscribedToTopic.Code},
	{groups.ErrMetadataTooLarge, kerr.OffsetMetadataTooLarge.Code},
	{groups.ErrUnknownPartition, kerr.UnknownTopicOrPartition.Code},
}

// groupCode is the code of an error of the coordinator's, 0 for none. What has
// no code of its own is the storage's: clients look for the coordinator again
// and repeat.
func groupCode(err error) int16 {
	if err == nil {
		return 0
	}
	for _, c := range groupCodes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return kerr.CoordinatorNotAvailable.Code
}
