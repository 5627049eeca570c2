/** The rules that depend on which schema is the older one. */
import { actorRemoved } from "./rules/actor-removed.js";
import { endpointRemoved } from "./rules/endpoint-removed.js";

/**
 * Codes of the rules that report what only one side has. A process that does not know which schema is older skips them;
 * a call to a missing actor or endpoint is then refused on its own. All other rules find the same differences in both
 * directions.
 */
export const oneWayRules: ReadonlySet<string> = new Set([actorRemoved.code, endpointRemoved.code]);
