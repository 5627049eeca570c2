/** Describes what a driver hands over, as a controller needs it to continue. */

import { readFileSync } from "node:fs";
import { viewOf } from "../../actor/mesh/actor-mesh.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { SpawnedActors } from "../../proc/mesh/spawned-actors.js";
import type { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import type { PublishedState } from "../publish/program-publications.js";
import type { HandedActors, HandedHosts, HandedProc, HandedProcs, HandedPublication, HandOver } from "./hand-over.js";
import type { HandedMeshes } from "./refusals.js";

/**
 * Returns the module that makes a controller understand TypeScript; undefined if it needs none. A daemon starts it without the options of
 * this program, as threads are.
 */
export function controllerLoader({ platform }: ProcessRuntime): string | undefined {
  return platform.loaderFor({ isolation: "thread", execArgv: [] }, platform.classes.registryUrls);
}

/**
 * @param subject what is detached, for messages to people
 * @param tls the files of the certificate of the controller; undefined if the hosts need none
 * @throws Error if the class of an actor, or the start of a process, cannot be described; also rethrows errors of functions
 * among the options of the processes
 */
export async function describeHandOver(
  runtime: ProcessRuntime,
  { groups, procs, actors }: HandedMeshes,
  published: readonly PublishedState[],
  subject: string,
  tls: TlsFiles | undefined,
): Promise<HandOver> {
  const { proc } = runtime.mainProc;
  const loader = controllerLoader(runtime);
  return {
    universe: runtime.universe,
    driver: proc.id,
    subject,
    ...(loader === undefined ? {} : { loader }),
    hosts: groups.map((group) => describeHosts(group, tls)),
    procs: procs.map((mesh) => describeProcs(mesh, groups)),
    actors: await Promise.all(actors.map((mesh) => describeActors(runtime, mesh, procs))),
    publications: published.map((each) => describePublication(each, actors)),
  };
}

/** @param tls the files of the certificate of the controller; undefined if the hosts need none */
export function describeHosts(
  { name, dimension, access, hosts }: AttachedHosts,
  tls: TlsFiles | undefined,
): HandedHosts {
  const { registry, ...others } = access;
  const addresses = hosts.map(({ id, address }) => ({ agent: id, address }));
  return {
    name,
    dimension,
    ...others,
    hosts: addresses,
    ...(registry === undefined ? {} : { registry }),
    ...(tls === undefined ? {} : { certificate: readPems(tls) }),
  };
}

function readPems({ cert, key, ca }: TlsFiles): NonNullable<HandedHosts["certificate"]> {
  const [certText, keyText, caText] = [cert, key, ca].map((file) => readFileSync(file, "utf8")) as [
    string,
    string,
    string,
  ];
  return { cert: certText, key: keyText, ca: caText };
}

function describeProcs(mesh: SpawnedProcs, groups: readonly AttachedHosts[]): HandedProcs {
  const { name, extent, restartPlan, members } = mesh;
  const procs = Array.from({ length: members.count }, (_, rank) => describeProc(mesh, rank, groups));
  return { name, extent, procs, ...(restartPlan === undefined ? {} : { restart: restartPlan }) };
}

function describeProc(mesh: SpawnedProcs, rank: number, groups: readonly AttachedHosts[]): HandedProc {
  const { id, exit } = mesh.childAt(rank);
  const { location, label, env, execArgv, cpus, cwd, config } = mesh.describeStart(rank);
  const group = groups.findIndex((each) => each.hosts.some((host) => host.location === location));
  return {
    proc: id,
    group,
    host: groups[group]!.hosts.findIndex((host) => host.location === location),
    ...(exit === undefined ? {} : { ended: exit.cause }),
    label,
    env: Object.fromEntries(Object.entries(env).map(([variable, value]) => [variable, value ?? null])),
    execArgv,
    ...(cpus === undefined ? {} : { cpus }),
    ...(cwd === undefined ? {} : { cwd }),
    config,
  };
}

async function describeActors(
  { platform }: ProcessRuntime,
  { record, plan, members, failures }: SpawnedActors,
  procs: readonly SpawnedProcs[],
): Promise<HandedActors> {
  const { classes } = platform;
  const { actorClass, descriptor, args, protobuf, restart, watch } = plan;
  return {
    mesh: record.id,
    name: record.name,
    procs: procs.findIndex(({ meshes }) => [...meshes].some((mesh) => mesh.record === record)),
    region: members.spawnedOn,
    actor: classes.referenceOf(actorClass) ?? (await classes.resolve(actorClass)),
    fingerprint: descriptor.fingerprint,
    args,
    protobuf,
    ...(restart === undefined ? {} : { restart }),
    ...(watch === undefined ? {} : { watch }),
    ranks: Array.from({ length: members.count }, (_, rank) => {
      const failed = failures.causeOf(rank);
      return { incarnation: failures.incarnationOf(rank), ...(failed === undefined ? {} : { failed }) };
    }),
  };
}

function describePublication(
  { publication, mesh, senders }: PublishedState,
  actors: readonly SpawnedActors[],
): HandedPublication {
  const { record } = viewOf(mesh);
  return { publication, actors: actors.findIndex((each) => each.record === record), senders };
}
