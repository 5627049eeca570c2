/** `JobContext.placementGroup`: asks the root of the context for bundles. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { ActorError, TimeoutError } from "../../index.js";
import type { ContextMember } from "../context/member.js";
import { checkTimeout } from "../context/timeout.js";
import { ResourceUnavailableError } from "../errors.js";
import { checkResources, type Resources } from "../host/resources.js";
import { checkOptionNames, wholeRegion } from "../kernel.js";
import { PlacementGroup } from "./placement-group.js";
import type { PlacementOptions } from "./placement-options.js";
import { strategies } from "./plan-bundles.js";

const what = "cannot create a placement group";
const defaultTimeout = 60_000;
/** The longest time in ms: 24 days. */
const longestTimeout = 2 ** 31 - 1;

export async function createPlacementGroup(
  member: ContextMember,
  bundles: readonly Resources[],
  options: PlacementOptions,
): Promise<PlacementGroup<"bundles">> {
  checkOptionNames(what, options, ["strategy", "timeout"]);
  const { strategy = "pack", timeout = defaultTimeout } = options;
  member.checkOpen(what);
  if (!Array.isArray(bundles) || bundles.length === 0) {
    throw new TypeError(`${what}: expected the resources of at least one bundle, got ${describeValue(bundles)}`);
  }
  if (!strategies.includes(strategy)) {
    throw new TypeError(`${what}: expected strategy ${strategies.join(", ")}, got ${describeValue(strategy)}`);
  }
  const limit = Math.min(checkTimeout(timeout, what) ?? longestTimeout, longestTimeout);
  const checked = bundles.map((bundle, i) => checkResources(bundle as Resources, `${what}: bundle ${i}`));
  const id = member.newId();
  const root = member.root();
  const hosts = await inMemberTurn(member, () => root.reserve.callOne(id, checked, strategy, limit)).catch(explain);
  const remove = () => inMemberTurn(member, () => root.unreserve.callOne(id));
  const record = { id, hosts: hosts.map(({ host }) => host), remove, placed: 0, isRemoved: false };
  return new PlacementGroup<"bundles">(record, wholeRegion({ bundles: bundles.length }));
}

function inMemberTurn<T>(member: ContextMember, call: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    member.inTurn(() => {
      call().then(resolve, reject);
    });
  });
}

/** The root has thrown one of the errors of this module. */
function explain(error: unknown): never {
  if (error instanceof ActorError) {
    if (error.remoteName === "ResourceUnavailableError")
      throw new ResourceUnavailableError(error.message, { cause: error });
    if (error.remoteName === "TimeoutError") throw new TimeoutError(error.message, { cause: error });
  }
  throw error;
}
