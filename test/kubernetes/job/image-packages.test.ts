/** Tests of what the steps of an image give to programs: their modules find its packages, and a step that changes is applied alone. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Compute, Image, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew, moduleOf } from "../../proc/crew.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

onKubernetes("packages of an image", (lab) => {
  const jobs: { kill(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
  });

  // The image of the cluster has no npm, and its pods have process ids of their own.
  test.runIf(backend !== "cluster")(
    "are imported by the program, and a step that changes is applied after the results of those before it",
    async () => {
      const namespace = await lab().namespace();
      const cache = mkdtempSync(path.join(tmpdir(), "image-cache-"));
      const base = Image.from(lab().nodeImage)
        .copy(path.join(import.meta.dirname, "../../fixtures/crew/image-package"), "image-package")
        .npmInstall("file:image-package")
        .run("node -p 'Math.random()' > first");

      /** Runs a job with the last step. @returns what the program has imported, and what the steps have written */
      async function run(word: string): Promise<{ imported: string; first: string; last: string }> {
        const compute = new Compute({ image: base.run(`echo ${word} > last`), imageCache: { node: cache } });
        const job = new KubernetesJob({
          namespace,
          meshes: { trainers: { hosts: 1, compute } },
          kubeconfig: lab().kubeconfig,
          cache: null,
          progress: "silent",
        });
        jobs.push(job);
        const { trainers } = await job.state();
        const procs = trainers.spawnProcs({}, { bootstrap: moduleOf("bootstrap-of-image.js") });
        const worker = procs.spawn("crew", crew.SteelWorker).slice({ hosts: 0 });
        const imported = await worker.bootstrapped.callOne();
        const { pid } = await worker.where.callOne();
        const written = (name: string) => readFileSync(`/proc/${pid}/root/viceroy/app/${name}`, "utf8").trim();
        const result = { imported, first: written("first"), last: written("last") };
        await job.kill();
        return result;
      }

      const one = await run("one");
      expect(one).toMatchObject({ imported: "a package of the image", last: "one" });
      // The random number would be another one if its step was applied again.
      expect(await run("two")).toEqual({ ...one, last: "two" });
    },
    240_000,
  );
});
