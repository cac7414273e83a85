// Kith-beam scores the best links of every node of a graph on an Apache Beam engine, on as many
// machines as the engine gives. It writes the same output as kith score.
//
//	kith backup social.kith social.kbk
//	kith-beam --backup social.kbk --out links.csv --shards 4 --among "NEIGHBORS(2)" --top 10
//
// Each worker restores the backup into a folder of its own disk, once, and opens it for reading;
// the processes of one machine share the copy. The sources are cut into shards. One worker scores a
// shard, on all of its processors. The outputs links-00000-of-00004.csv and so on, joined in order,
// are the bytes that kith score writes, as is links.csv with one shard. Of Parquet, the files of
// all shards have the same rows.
//
// # Files
//
// The URIs of --backup, --out, --sources and --pairs are URIs of Beam's file systems:
// gs://bucket/name, or a path that all workers reach. For s3:// import
// github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3 in main.go and build again. The
// copies remain in --scratch, where a worker that is started again finds them. Delete the folder
// when no job runs.
//
// # Failures
//
// A shard is written under a temporary name that no other attempt uses. When all shards are
// complete, the outputs of one attempt of each get their names, and other outputs are deleted. So a
// row is not lost, and not there twice, when the engine repeats a step. A job that fails leaves no
// output. A job that is killed leaves temporary files, links.csv.partial-*, which can be deleted,
// and some outputs if it was killed while it renamed.
//
// The headers of the backups are read before the job is submitted, so a backup that is missing, of
// a different format, or that needs an earlier one is refused at once. One that is cut short or
// damaged is noticed when a worker restores it; the error is remembered, and the engine's attempts
// to repeat the step fail without reading it again. How often it tries is the engine's decision:
// Prism never does, Dataflow tries four times in a batch job.
//
// # Engines
//
// The job is tested on Prism, the SDK's own engine, which runs in the process of kith-beam and is
// the default. Other engines are described here and have not been measured.
//
// Dataflow:
//
//	kith-beam --runner dataflow --project P --region R --staging_location gs://b/staging --worker_machine_type n2-highmem-8 \
//	  --num_workers 16 --memory 32G --scratch /tmp/kith-beam --backup gs://b/social.kbk --out gs://b/links.csv --shards 256
//
// Flink and Spark, with the Beam job server of the engine at localhost:8099 (environment_type
// LOOPBACK runs the workers in this process, for a trial; otherwise DOCKER with an image of the
// SDK, or PROCESS):
//
//	kith-beam --runner flink --endpoint localhost:8099 --environment_type DOCKER --parallelism 16 ...
//	kith-beam --runner spark --endpoint localhost:8099 --environment_type DOCKER ...
//
// Set --memory if the machines differ, because the answers of models depend on it; a job whose
// workers differ fails. A graph and its feature vectors should fit into 45 % of --memory. A shard
// of some minutes is a good size.
//
// Known trouble of Beam: the portable Flink runner is hard to set up for Go, and its documentation
// names old versions (github.com/apache/beam/issues/26485). The SDK does not limit the memory of
// the elements in flight (issues/21817); here an element is the number of a shard or the name of a
// file. Prism can get stuck on a flatten of two unbounded collections (issues/33815); here there is
// no flatten, and every collection is bounded.
package main
