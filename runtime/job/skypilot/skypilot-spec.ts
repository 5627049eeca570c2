/** The specification of a job of SkyPilot, and the checks of its options. */
import { checkOptionNames } from "../../shape/check-options.js";
import { optionError } from "../check-option.js";
import type { TlsSpec } from "../job-options.js";
import { checkHostCount, checkMeshes, memoryBytes } from "../mesh-spec.js";

/** The specification of a job of SkyPilot. It is plain JSON, because a record contains it. */
export type SkyPilotSpec = {
  /** The name of the job, with which the names of its clusters begin. */
  readonly name: string;
  readonly meshes: Readonly<Record<string, SkyPilotMesh>>;
  readonly clusters: "shared" | "each";
  /** The URL of the API server; null to find it as SkyPilot's own client does. */
  readonly endpoint: string | null;
  /** The places that SkyPilot may use, in its notation; empty for all. */
  readonly infra: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  /** The names of the secrets. Their values are not recorded. */
  readonly secrets: readonly string[];
  readonly mounts: Readonly<Record<string, SkyPilotMount>>;
  readonly ports: readonly (number | string)[];
  /** Null: clusters stay until the job is killed. */
  readonly autostop: AutostopSpec | null;
  readonly retryUntilUp: boolean;
  /** The port of the hosts. Certificates are signed at the next one. */
  readonly port: number;
  readonly tls: TlsSpec | null;
  readonly setup: string | null;
  readonly node: string | null;
};

/** When SkyPilot ends clusters whose hosts have ended. */
export type AutostopSpec = {
  readonly minutes: number;
  /** Whether it takes them down, and does not only stop them. */
  readonly down: boolean;
};

/** The hosts of one mesh, and the machine that each of them needs. */
export type SkyPilotMesh = {
  /** The number of hosts, at least 1. */
  readonly hosts: number;
  /** The processors of each host, at least. */
  readonly cpus?: number;
  /** The memory of each host, at least: bytes, or text such as `"16GiB"`. */
  readonly memory?: number | string;
  /** The accelerators of each host as SkyPilot names them: `"H100:8"`, or `"L4"` for one. */
  readonly gpus?: string;
  /** Whether the machines are spot instances, which are cheaper and can be taken away at any time. Default: false. */
  readonly spot?: boolean;
  /** The image of the machines as SkyPilot names it: `"docker:ubuntu:22.04"`, or the id of an image of the cloud. */
  readonly image?: string;
  /** The type of the machines of one cloud, such as `"m6i.2xlarge"`. Default: the cheapest that has the rest. */
  readonly instance?: string;
  /** The size of the disk of each host in GB. Default: that of SkyPilot. */
  readonly disk?: number;
};

/** A bucket at a path of all hosts: its URL, or how SkyPilot mounts it. */
export type SkyPilotMount =
  | string
  | {
      /** The URL of the bucket or a part of it: `"s3://data/images"`. */
      readonly source: string;
      /** `"MOUNT"` reads and writes the bucket, `"MOUNT_CACHED"` writes later, `"COPY"` copies it to the disk. Default: that of SkyPilot. */
      readonly mode?: "MOUNT" | "MOUNT_CACHED" | "COPY";
    };

const meshOptions = ["hosts", "cpus", "memory", "gpus", "spot", "image", "instance", "disk"];
const mountModes: readonly unknown[] = ["MOUNT", "MOUNT_CACHED", "COPY"];

/** Variables with these beginnings are set by Viceroy and SkyPilot. */
const reservedVariable = /^(?:VICEROY|SKYPILOT)_/;

/**
 * Checks the meshes of a job of SkyPilot.
 * @throws TypeError if a name or an option is malformed
 * @throws RangeError if a number is out of range
 */
export function checkSkyPilotMeshes(meshes: unknown): void {
  if (typeof meshes === "object" && meshes !== null) {
    // The other jobs count GPUs. SkyPilot has to know which ones.
    for (const [name, mesh] of Object.entries(meshes)) checkGpus(name, (mesh as SkyPilotMesh | null)?.gpus);
    checkMeshes(withoutGpus(meshes), meshOptions);
  } else checkMeshes(meshes, meshOptions);
  for (const [name, mesh] of Object.entries(meshes as Record<string, SkyPilotMesh>)) {
    checkHostCount(name, mesh.hosts);
    const { spot, disk, image, instance } = mesh;
    if (spot !== undefined && typeof spot !== "boolean") {
      throw optionError(`spot of mesh "${name}" as true or false`, spot);
    }
    if (disk !== undefined && !(Number.isInteger(disk) && disk > 0)) {
      throw optionError(`disk of mesh "${name}" as a whole number of GB`, disk);
    }
    for (const [option, value] of Object.entries({ image, instance })) {
      if (value !== undefined && !isWord(value)) throw optionError(`${option} of mesh "${name}" as one word`, value);
    }
  }
}

function checkGpus(mesh: string, gpus: unknown): void {
  if (gpus === undefined || (typeof gpus === "string" && /^[A-Za-z][\w.-]*(?::[1-9]\d*)?$/.test(gpus))) return;
  throw optionError(`gpus of mesh "${mesh}" as text such as "H100:8" or "L4"`, gpus);
}

function withoutGpus(meshes: object): object {
  return Object.fromEntries(
    Object.entries(meshes).map(([name, mesh]) => {
      if (typeof mesh !== "object" || mesh === null) return [name, mesh];
      const { gpus: _, ...rest } = mesh as SkyPilotMesh;
      return [name, rest];
    }),
  );
}

/** Checks the places that SkyPilot may use. @throws TypeError */
export function checkInfra(infra: unknown): readonly string[] {
  const places = infra === undefined ? [] : typeof infra === "string" ? [infra] : infra;
  if (Array.isArray(places) && places.every(isWord)) return places;
  throw optionError('infra as text such as "aws/us-east-1", or a list of them', infra);
}

/** Checks environment variables. @param option `envs` or `secrets` @throws TypeError */
export function checkVariables(option: string, variables: unknown): Readonly<Record<string, string>> {
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw optionError(`${option} as an object of text`, variables);
  }
  for (const [name, value] of Object.entries(variables)) {
    if (!/^[A-Za-z_]\w*$/.test(name) || reservedVariable.test(name)) {
      throw optionError(
        `the names of ${option} as those of variables that do not begin with VICEROY_ or SKYPILOT_`,
        name,
      );
    }
    if (typeof value !== "string" || value.includes("\0")) throw optionError(`${name} of ${option} as text`, value);
  }
  return variables as Record<string, string>;
}

/** Checks the buckets that are mounted. @throws TypeError */
export function checkMounts(mounts: unknown): Readonly<Record<string, SkyPilotMount>> {
  if (typeof mounts !== "object" || mounts === null || Array.isArray(mounts)) {
    throw optionError('mounts as an object such as { "/data": "s3://data" }', mounts);
  }
  for (const [path, mount] of Object.entries(mounts)) {
    if (!/^[/~][^\0\n]*$/.test(path))
      throw optionError("the names of mounts as absolute paths, or paths below ~", path);
    if (typeof mount === "string") checkBucket(path, mount);
    else {
      checkOptionNames(`cannot make a job with the mount ${path}`, mount, ["source", "mode"]);
      const { source, mode } = mount as { readonly source?: unknown; readonly mode?: unknown };
      checkBucket(path, source);
      if (mode !== undefined && !mountModes.includes(mode)) {
        throw optionError(`mode of the mount ${path} as "MOUNT", "MOUNT_CACHED" or "COPY"`, mode);
      }
    }
  }
  return mounts as Record<string, SkyPilotMount>;
}

/** A path of this machine would be one of the API server, which may be anywhere. */
function checkBucket(path: string, source: unknown): void {
  if (typeof source === "string" && /^[a-z][a-z0-9]*:\/\/\S+$/.test(source)) return;
  throw optionError(
    `the source of the mount ${path} as the URL of a bucket; files of this machine come with the code, by include of the option sync`,
    source,
  );
}

/** Checks the URL of an API server. The record of a job contains it, so that it must not contain a password. @throws TypeError */
export function checkEndpoint(endpoint: unknown): void {
  const url = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.password === "") return;
  throw optionError(
    "endpoint as the URL of an API server of SkyPilot without a password, which SKYPILOT_API_SERVER_ENDPOINT can have",
    url === undefined ? endpoint : `${url.protocol}//${url.host}`,
  );
}

/** Checks the ports that are open to the internet. @throws TypeError */
export function checkOpenPorts(ports: unknown): readonly (number | string)[] {
  const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65_536;
  const isRange = (text: string) => {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(text) ?? [];
    return isPort(Number(from)) && isPort(Number(to)) && Number(from) <= Number(to);
  };
  const isValid = (port: unknown) =>
    typeof port === "number" ? isPort(port) : typeof port === "string" && isRange(port);
  if (Array.isArray(ports) && ports.every(isValid)) return ports;
  throw optionError('ports as a list of ports and ranges such as "8000-8010"', ports);
}

/** Returns an amount of memory in GiB, which SkyPilot calls GB. */
export function memoryGib(mesh: string, memory: number | string): number {
  return Math.ceil((memoryBytes(memory, mesh) / 2 ** 30) * 1000) / 1000;
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && /^[^\s\0]+$/.test(value);
}
