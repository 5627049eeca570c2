/** Two states of a schema, lowered to protobuf and printed; many pairs stand side by side, each in a package of its own. */
import type { ArtefactFile } from "../../../compiler/emit/artefact.js";
import { emitProto } from "../../../compiler/emit/proto/index.js";
import { assignIds, emptyLock, type Lock } from "../../../compiler/lock/index.js";
import type { Schema } from "../../../compiler/model/index.js";
import { checkProtobuf } from "../../../compiler/protobuf/check-protobuf.js";
import type { ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import { inputOfSchema } from "../../compiler/emit/proto/lowered.js";

export interface ProtoSide {
  readonly schema: ProtoSchema;
  /** Their paths begin with `proto/`. */
  readonly files: readonly ArtefactFile[];
}

export interface ProtoPair {
  readonly older: ProtoSide;
  readonly newer: ProtoSide;
}

/**
 * @param sides without ids: the newer ones are those of the older one's lock
 * @param protoPackage no other pair has it
 * @param withoutLock the newer side has lost the lock
 * @returns undefined: the one or the other is no protobuf, and the compiler says so
 */
export function pairOf(
  sides: { readonly older: Schema; readonly newer: Schema },
  protoPackage: string,
  withoutLock = false,
): ProtoPair | undefined {
  const first = assignIds(sides.older);
  const second = assignIds(sides.newer, withoutLock ? emptyLock : first.lock);
  const older = sideOf(first.schema, first.lock, protoPackage);
  const newer = sideOf(second.schema, second.lock, protoPackage);
  return older && newer && { older, newer };
}

function sideOf(schema: Schema, lock: Lock, protoPackage: string): ProtoSide | undefined {
  if (checkProtobuf(schema).length > 0) return undefined;
  const input = inputOfSchema(schema, lock, protoPackage);
  const { files, diagnostics } = emitProto(input);
  const { schema: lowered } = input.lowered;
  return diagnostics.length > 0 ? undefined : { schema: lowered, files };
}
