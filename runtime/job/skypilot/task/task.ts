/** The task that SkyPilot launches for one cluster, from what the job asks for alone. */
import { memoryGib, type SkyPilotMount, type SkyPilotSpec } from "../skypilot-spec.js";
import type { MachineFiles } from "./machine-script.js";
import { runScript, secretsVariable, setupScript } from "./machine-script.js";
import type { ClusterPlan } from "./plan-clusters.js";

/** The parts of a task that differ between the launches of a job. */
export interface LaunchedRun {
  readonly applyId: string;
  readonly files: MachineFiles;
  /** The secrets of the hosts, and those of the user. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The secrets of the hosts as the program of a machine reads them. */
  readonly hostSecrets: string;
}

/** Returns the task. It is JSON, and so YAML. */
export function skyPilotTask(spec: SkyPilotSpec, plan: ClusterPlan, run: LaunchedRun): object {
  return {
    name: plan.name,
    num_nodes: plan.places.length,
    resources: resourcesOf(spec, plan),
    ...(Object.keys(spec.envs).length === 0 ? {} : { envs: spec.envs }),
    secrets: { ...run.secrets, [secretsVariable]: run.hostSecrets },
    ...(Object.keys(spec.mounts).length === 0 ? {} : { file_mounts: mountsOf(spec.mounts) }),
    setup: setupScript(spec, run),
    run: runScript(run.applyId),
  };
}

function resourcesOf(spec: SkyPilotSpec, { name, machine }: ClusterPlan): object {
  const { cpus, memory, gpus, spot = false, image, instance, disk } = machine;
  const { infra, ports, autostop } = spec;
  return {
    ...(infra.length === 1 ? { infra: infra[0] } : {}),
    ...(infra.length > 1 ? { any_of: infra.map((place) => ({ infra: place })) } : {}),
    ...(instance === undefined ? {} : { instance_type: instance }),
    // A number alone means exactly that many.
    ...(cpus === undefined ? {} : { cpus: `${cpus}+` }),
    ...(memory === undefined ? {} : { memory: `${memoryGib(name, memory)}+` }),
    ...(gpus === undefined ? {} : { accelerators: gpus }),
    ...(spot ? { use_spot: true } : {}),
    ...(image === undefined ? {} : { image_id: image }),
    ...(disk === undefined ? {} : { disk_size: disk }),
    ...(ports.length === 0 ? {} : { ports }),
    ...(autostop === null ? {} : { autostop: { idle_minutes: autostop.minutes, down: autostop.down } }),
  };
}

function mountsOf(mounts: Readonly<Record<string, SkyPilotMount>>): Record<string, string | object> {
  return Object.fromEntries(
    Object.entries(mounts).map(([path, mount]) => {
      if (typeof mount === "string") return [path, mount];
      return [path, { source: mount.source, ...(mount.mode === undefined ? {} : { mode: mount.mode }) }];
    }),
  );
}
