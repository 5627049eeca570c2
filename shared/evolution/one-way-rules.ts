/** Rules that depend on which schema is the older one. */
import { actorRemoved } from "./rules/actor-removed.js";
import { endpointRemoved } from "./rules/endpoint-removed.js";

/**
 * Codes of the rules that find what one side alone has. A process that does not know which schema is older leaves them out,
 * and lets each call to what is not there be refused by itself; all other rules find the same differences both ways.
 */
export const oneWayRules: ReadonlySet<string> = new Set([actorRemoved.code, endpointRemoved.code]);
