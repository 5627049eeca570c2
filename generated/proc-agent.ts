// Written by hand from schemas/proc-agent.ts until the compiler writes it.
import {
  Actor,
  type ActorDescriptor,
  type ActorMesh,
  type Awaitable,
  type Codec,
  codec,
  defineActor,
  defineArgs,
  type Endpoint,
  type MeshKind,
} from "viceroy/codegen/v1";
import { type ActorNotice, ActorNoticeCodec } from "./supervision.js";

export interface ProcConfig {
  loader?: string;
  bootstrap?: string;
}

export interface ProcInfo {
  pid: number;
  node: string;
  viceroy: string;
}

export interface ClassReference {
  registry: string;
  id: string;
}

export interface SpawnOrder {
  mesh: bigint;
  name: string;
  actor: ClassReference;
  fingerprint: bigint;
  args: Uint8Array;
  incarnation: number;
}

export interface SpawnOutcome {
  failure?: ActorNotice;
}

export interface StopOrder {
  reason: string;
  drain: number;
}

/** The agent of a process: what the process that made it asks of it, and what it reports back. */
export abstract class ProcAgentActor extends Actor {
  static override get descriptor(): ActorDescriptor {
    return procAgentDescriptor;
  }
  declare readonly $kind: ProcAgentKind;
  abstract configure(config: ProcConfig): Awaitable<ProcInfo>;
  abstract spawn(order: SpawnOrder): Awaitable<SpawnOutcome>;
  abstract refuse(mesh: bigint, name: string, reason: string): Awaitable<void>;
  abstract stopActor(mesh: bigint, order: StopOrder): Awaitable<void>;
  abstract shutdown(order: StopOrder): Awaitable<void>;
  abstract alive(): Awaitable<void>;
  abstract failed(notice: ActorNotice): Awaitable<void>;
}

export interface ProcAgentMesh<D extends string = string> extends ActorMesh<ProcAgentKind, D> {
  readonly configure: Endpoint<[config: ProcConfig], ProcInfo, D>;
  readonly spawn: Endpoint<[order: SpawnOrder], SpawnOutcome, D>;
  readonly refuse: Endpoint<[mesh: bigint, name: string, reason: string], void, D>;
  readonly stopActor: Endpoint<[mesh: bigint, order: StopOrder], void, D>;
  readonly shutdown: Endpoint<[order: StopOrder], void, D>;
  readonly alive: Endpoint<[], void, D>;
  readonly failed: Endpoint<[notice: ActorNotice], void, D>;
}

export interface ProcAgentKind extends MeshKind {
  readonly args: [];
  readonly mesh: ProcAgentMesh<this["dims"]>;
}

const ProcConfigCodec: Codec<ProcConfig> = codec.object<ProcConfig>("ProcConfig", {
  loader: codec.optional(codec.string),
  bootstrap: codec.optional(codec.string),
});

const ProcInfoCodec: Codec<ProcInfo> = codec.object<ProcInfo>("ProcInfo", {
  pid: codec.uint32,
  node: codec.string,
  viceroy: codec.string,
});

const SpawnOrderCodec: Codec<SpawnOrder> = codec.object<SpawnOrder>("SpawnOrder", {
  mesh: codec.uint64,
  name: codec.string,
  actor: codec.object<ClassReference>("ClassReference", { registry: codec.string, id: codec.string }),
  fingerprint: codec.uint64,
  args: codec.bytes,
  incarnation: codec.uint32,
});

const SpawnOutcomeCodec: Codec<SpawnOutcome> = codec.object<SpawnOutcome>("SpawnOutcome", {
  failure: codec.optional(ActorNoticeCodec),
});

const StopOrderCodec: Codec<StopOrder> = codec.object<StopOrder>("StopOrder", {
  reason: codec.string,
  drain: codec.uint32,
});

const none = codec.parameters<readonly unknown[]>("none", {});

export const procAgentDescriptor: ActorDescriptor = defineActor({
  key: "viceroy/schemas/proc-agent#ProcAgent",
  name: "ProcAgent",
  id: 0x70726f63,
  fingerprint: 0x70726f632d616701n,
  args: () => defineArgs(none, 0, 0),
  endpoints: () => ({
    configure: {
      id: 1,
      args: defineArgs(codec.parameters("configure", { config: ProcConfigCodec }), 1, 1),
      result: ProcInfoCodec,
    },
    spawn: {
      id: 2,
      args: defineArgs(codec.parameters("spawn", { order: SpawnOrderCodec }), 1, 1),
      result: SpawnOutcomeCodec,
      concurrent: true,
    },
    refuse: {
      id: 3,
      args: defineArgs(
        codec.parameters("refuse", { mesh: codec.uint64, name: codec.string, reason: codec.string }),
        3,
        3,
      ),
      concurrent: true,
    },
    stopActor: {
      id: 4,
      args: defineArgs(codec.parameters("stopActor", { mesh: codec.uint64, order: StopOrderCodec }), 2, 2),
      concurrent: true,
    },
    shutdown: {
      id: 5,
      args: defineArgs(codec.parameters("shutdown", { order: StopOrderCodec }), 1, 1),
      concurrent: true,
    },
    alive: { id: 6, args: defineArgs(none, 0, 0), concurrent: true },
    failed: { id: 7, args: defineArgs(codec.parameters("failed", { notice: ActorNoticeCodec }), 1, 1) },
  }),
});
