/** A module that exports a job of Kubernetes with the specification in the variable SPEC, and one of another kind. */
import process from "node:process";
import { Job, ProcessJob } from "viceroy/job";

class DescribedJob extends Job {
  constructor(spec) {
    super(
      { kind: "kubernetes", spec, reach: process.env.REACH, meshes: spec.meshes, tls: spec.tls },
      { name: spec.name, cache: null },
    );
  }
}

export default new DescribedJob(JSON.parse(process.env.SPEC));
export const other = new ProcessJob({ meshes: { workers: { hosts: 1 } }, cache: null });
