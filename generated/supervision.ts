// Written by hand from schemas/supervision.ts until the compiler writes it.
import { type Codec, codec } from "viceroy/codegen/v1";

export interface FailureCause {
  name: string;
  message: string;
  stack?: string;
  cause?: FailureCause;
}

export type FailureKind = "process" | "spawn" | "constructor" | "init" | "message" | "supervise" | "killed";

export interface AffectedMesh {
  mesh: string;
  ranks: number[];
}

export interface FailureRecord {
  mesh: string;
  ranks: number[];
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
  affected: AffectedMesh[];
}

export interface ActorNotice {
  mesh: bigint;
  rank: number;
  incarnation: number;
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
}

export const FailureCauseCodec: Codec<FailureCause> = codec.object<FailureCause>("FailureCause", () => ({
  name: codec.string,
  message: codec.string,
  stack: codec.optional(codec.string),
  cause: codec.optional(FailureCauseCodec),
}));

export const FailureKindCodec: Codec<FailureKind> = codec.enumeration<FailureKind>("FailureKind", [
  "process",
  "spawn",
  "constructor",
  "init",
  "message",
  "supervise",
  "killed",
]);

export const AffectedMeshCodec: Codec<AffectedMesh> = codec.object<AffectedMesh>("AffectedMesh", {
  mesh: codec.string,
  ranks: codec.array(codec.uint32),
});

export const FailureRecordCodec: Codec<FailureRecord> = codec.object<FailureRecord>("FailureRecord", {
  mesh: codec.string,
  ranks: codec.array(codec.uint32),
  kind: FailureKindCodec,
  cause: FailureCauseCodec,
  at: codec.date,
  affected: codec.array(AffectedMeshCodec),
});

export const ActorNoticeCodec: Codec<ActorNotice> = codec.object<ActorNotice>("ActorNotice", {
  mesh: codec.uint64,
  rank: codec.uint32,
  incarnation: codec.uint32,
  kind: FailureKindCodec,
  cause: FailureCauseCodec,
  at: codec.date,
});
