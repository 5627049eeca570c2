/** Tests of meshes that cannot grow: nothing is asked of the API server. */

import type { KubernetesJobOptions } from "viceroy/job";
import { expect, test } from "vitest";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { growMeshes, type MeshGrowthOptions } from "../../../runtime/job/kubernetes/size/mesh-growth.js";

async function messageOf(options: Partial<KubernetesJobOptions<"workers">>, rank: number): Promise<string> {
  const meshes = { workers: { hosts: 1, image: "node:22" } };
  const { spec } = checkKubernetesJob({ namespace: "team", meshes, ...options });
  const growth = { spec } as MeshGrowthOptions;
  const { signal } = new AbortController();
  return growMeshes(growth, [{ mesh: "workers", rank }], signal).then(String, (error: Error) => error.message);
}

test("a mesh in a queue does not grow, because the queue would end the hosts that it has admitted", async () => {
  expect(await messageOf({ queue: "team-a" }, 1)).toBe(
    'mesh "workers" is in the queue "team-a", which has admitted its hosts together, and would end all of them if their number changed; ' +
      "submit another job for more hosts, with another name and a cache of its own",
  );
});

test("a mesh does not get so many hosts that the names of its pods are too long", async () => {
  expect(await messageOf({ name: "x".repeat(53) }, 10)).toContain("characters, got 64 in");
});
