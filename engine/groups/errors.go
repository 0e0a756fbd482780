package groups

import "errors"

// Errors of requests; a protocol gives them its own codes.
var (
	ErrUnknownMember        = errors.New("member is not known to the group")
	ErrMemberIDRequired     = errors.New("join again with the member id given")
	ErrIllegalGeneration    = errors.New("generation is not the group's")
	ErrInconsistentProtocol = errors.New("protocols do not fit the group's")
	ErrInvalidSession       = errors.New("session timeout is out of bounds")
	ErrRebalancing          = errors.New("group is rebalancing")
	ErrFencedInstance       = errors.New("static member has been replaced")
	ErrGroupFull            = errors.New("group has as many members as allowed")
	ErrInvalidGroup         = errors.New("group id is not valid")
	ErrGroupNotFound        = errors.New("group does not exist")
	ErrGroupNotEmpty        = errors.New("group has members")
	ErrSubscribed           = errors.New("group is subscribed to the topic")
	ErrMetadataTooLarge     = errors.New("offset metadata is too large")
	ErrUnknownPartition     = errors.New("topic or partition does not exist")
	ErrNotDurable           = errors.New("offsets cannot be stored now")
	ErrTooManyGroups        = errors.New("too many groups")
)
