package replica

// Poll is what a follower does beside applying changes.
var Poll = (*Follower).poll
