package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(60, 0, 2, serveDescribeCluster) }

// Endpoint types of DescribeCluster.
const (
	brokerEndpoint     = 1
	controllerEndpoint = 2
)

// serveDescribeCluster tells who is in the cluster: this node.
func serveDescribeCluster(r *request) {
	req := r.kreq.(*kmsg.DescribeClusterRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	if code, message := endpointError(req.EndpointType); code != 0 {
		resp.ErrorCode, resp.ErrorMessage = code, &message
		r.reply(resp)
		return
	}
	e := r.srv.endpoint(r.conn)
	resp.ClusterID = r.srv.engine.Catalog().ClusterID()
	resp.ControllerID = e.node
	b := kmsg.NewDescribeClusterResponseBroker()
	b.NodeID, b.Host, b.Port, b.Rack = e.node, e.host, e.port, e.rackPtr()
	resp.Brokers = append(resp.Brokers, b)
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	r.reply(resp)
}

func endpointError(kind int8) (code int16, message string) {
	switch kind {
	case brokerEndpoint:
		return 0, ""
	case controllerEndpoint:
		return kerr.MismatchedEndpointType.Code, "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
	}
	return kerr.UnsupportedEndpointType.Code, fmt.Sprintf("Unsupported endpoint type %d", kind)
}
