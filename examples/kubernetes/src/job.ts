/** The job: two pods of Kubernetes, or with `--local` two processes on this machine, to try the program without a cluster. */
import { parseArgs } from "node:util";
import { Compute, Image, KubernetesJob, ProcessJob } from "viceroy/job";

const { values } = parseArgs({
  options: {
    local: { type: "boolean", default: false },
    namespace: { type: "string", default: "default" },
    image: { type: "string", default: "node:22" },
  },
});

/** Each pod starts from an image with Node.js alone. The steps are applied when it starts. */
const image = Image.from(values.image).env({ NODE_OPTIONS: "--max-old-space-size=200" });
const compute = new Compute({ cpus: 0.5, memory: "512MiB", image });

export const job = values.local
  ? new ProcessJob({ meshes: { searchers: { hosts: 2 } }, cache: null, progress: "silent" })
  : new KubernetesJob({
      namespace: values.namespace,
      name: "chains",
      meshes: { searchers: { hosts: 2, compute } },
      cache: null,
      progress: "silent",
    });
