/** The functions that benchmarks of jobs call. They use hosts of a job, or hosts that a person has started, as users do. */
import { attachHosts, type HostMesh } from "viceroy";
import { type Job, KubernetesJob, ProcessJob, SlurmJob, SSHJob } from "viceroy/job";
import "../generated/registry.js";
import { EchoServer } from "./echo-server.js";

const classes = { kubernetes: KubernetesJob, process: ProcessJob, slurm: SlurmJob, ssh: SSHJob };

/**
 * Makes a job with one mesh.
 * @param options the options of the class, with a mesh that is called `workers`, as the benchmark has passed them
 */
export function makeJob(kind: keyof typeof classes, options: object): Job<"workers"> {
  return new classes[kind]({ progress: "silent", ...options } as never);
}

/** Attaches hosts that a person has started. */
export function attachByHand(addresses: readonly string[], options: Parameters<typeof attachHosts>[1]) {
  return attachHosts(addresses, options);
}

/** Spawns processes with one actor each on all hosts. @returns the number of actors that have answered */
export async function askActors(hosts: HostMesh<"hosts">, each: number): Promise<number> {
  const echo = hosts.spawnProcs({ gpus: each }).spawn("echo", EchoServer);
  return (await echo.one.call()).size;
}

/**
 * Spawns one actor that is started again when its host has been replaced.
 * @returns asks the actor, and returns whether it has answered
 */
export function askAgain(hosts: HostMesh<"hosts">): () => Promise<boolean> {
  const restart = { policy: "on-failure", maxRestarts: 10 } as const;
  const echo = hosts.spawnProcs({}, { restart }).spawn("echo", EchoServer);
  return () =>
    echo.one
      .with({ timeout: 1000 })
      .call()
      .then(
        () => true,
        () => false,
      );
}
