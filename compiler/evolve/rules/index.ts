/**
 * The rules that compare schemas and locks. The wire rules, which compare the protobuf layout, are in
 * `shared/evolution`.
 */
import type { BreakRule } from "../break-rule.js";
import { concurrencyChanged } from "./behaviour/concurrency-changed.js";
import { enumLiteralChanged } from "./behaviour/enum-literal-changed.js";
import { idempotentRemoved } from "./behaviour/idempotent-removed.js";
import { jsonNameChanged } from "./behaviour/json-name-changed.js";
import { reduceChanged } from "./behaviour/reduce-changed.js";
import { respondChanged } from "./behaviour/respond-changed.js";
import { timeoutLowered } from "./behaviour/timeout-lowered.js";
import { enumValueAdded } from "./dangerous/enum-value-added.js";
import { memberGivenAnew } from "./dangerous/member-given-anew.js";
import { variantAdded } from "./dangerous/variant-added.js";
import { idReused } from "./history/id-reused.js";
import { tombstoneRemoved } from "./history/tombstone-removed.js";
import { discriminantChanged } from "./source/discriminant-changed.js";
import { kindChanged } from "./source/kind-changed.js";
import { memberOptional } from "./source/member-optional.js";
import { memberRemoved } from "./source/member-removed.js";
import { memberRenamed } from "./source/member-renamed.js";
import { memberRequired } from "./source/member-required.js";
import { memberTypeChanged } from "./source/member-type-changed.js";
import { parametersChanged } from "./source/parameters-changed.js";
import { resultChanged } from "./source/result-changed.js";
import { typeMoved } from "./source/type-moved.js";
import { typeParametersChanged } from "./source/type-parameters-changed.js";
import { typeRemoved } from "./source/type-removed.js";
import { capnpChanged } from "./wire/capnp-changed.js";
import { oneofMoved } from "./wire/oneof-moved.js";
import { stateExchanged } from "./wire/state-exchanged.js";

export const schemaRules: readonly BreakRule[] = [
  idReused,
  tombstoneRemoved,
  capnpChanged,
  oneofMoved,
  stateExchanged,
  typeRemoved,
  typeMoved,
  kindChanged,
  typeParametersChanged,
  memberRenamed,
  memberRemoved,
  memberTypeChanged,
  memberRequired,
  memberOptional,
  discriminantChanged,
  parametersChanged,
  resultChanged,
  idempotentRemoved,
  timeoutLowered,
  concurrencyChanged,
  reduceChanged,
  respondChanged,
  jsonNameChanged,
  enumLiteralChanged,
  variantAdded,
  enumValueAdded,
  memberGivenAnew,
];
