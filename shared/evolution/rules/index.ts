/**
 * All wire rules, in the order in which they are applied. For each member, only the first rule with a finding is
 * reported.
 */
import type { WireRule } from "../wire-rule.js";
import { actorIdChanged } from "./actor-id-changed.js";
import { actorRemoved } from "./actor-removed.js";
import { duplicatesDropped } from "./duplicates-dropped.js";
import { elementsNarrowed } from "./elements-narrowed.js";
import { endpointIdChanged } from "./endpoint-id-changed.js";
import { endpointRemoved } from "./endpoint-removed.js";
import { enumValueMoved } from "./enum-value-moved.js";
import { fieldCardinalityChanged } from "./field-cardinality-changed.js";
import { fieldTypeChanged } from "./field-type-changed.js";
import { handleChanged } from "./handle-changed.js";
import { mapKeyChanged } from "./map-key-changed.js";
import { memberReplaced } from "./member-replaced.js";
import { oneofChanged } from "./oneof-changed.js";
import { oneofRequired } from "./oneof-required.js";
import { requiredAdded } from "./required-added.js";
import { requiredRemoved } from "./required-removed.js";
import { streamChanged } from "./stream-changed.js";
import { tupleChanged } from "./tuple-changed.js";

export const wireRules: readonly WireRule[] = [
  fieldCardinalityChanged,
  mapKeyChanged,
  fieldTypeChanged,
  elementsNarrowed,
  duplicatesDropped,
  handleChanged,
  requiredAdded,
  requiredRemoved,
  oneofChanged,
  oneofRequired,
  tupleChanged,
  memberReplaced,
  enumValueMoved,
  actorRemoved,
  actorIdChanged,
  endpointRemoved,
  endpointIdChanged,
  streamChanged,
];
