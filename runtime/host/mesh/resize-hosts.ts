/** The arguments of `HostMesh.resize`, and their checks before anything is changed. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import { checkOptionNames, type Extent, extentSize, formatExtent, type Region } from "../../shape/index.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import { type HostAddress, parseRoutedTargets } from "../attached/host-targets.js";
import { checkCurrent, checkOwner, checkResize, type ResizeOptions } from "./resize-options.js";

/** The options of `HostMesh.resize`. */
export interface ResizeHostsOptions extends ResizeOptions {
  /** The addresses of the hosts that join, in the order of their positions. Default: none, for a mesh that gets smaller. */
  readonly addresses?: readonly string[];
}

/** The checked arguments. */
interface HostsResize {
  readonly extent: Extent;
  readonly drain: number;
  /** The addresses of the hosts that join. */
  readonly targets: readonly HostAddress[];
}

/**
 * @param routes the addresses by which this program reaches the hosts that join, where those are other ones
 * @throws TypeError, RangeError, Error if the mesh of hosts cannot be resized so, by this handle, now, or by this actor
 */
export function checkHostsResize(
  hosts: AttachedHosts,
  region: Region,
  sizes: unknown,
  options: ResizeHostsOptions,
  caller: LocalActor,
  routes: readonly (string | undefined)[] = [],
): HostsResize {
  const { name, owner, stopReason, members } = hosts;
  const failed = `cannot resize mesh "${name}" of hosts`;
  checkOptionNames(failed, options, ["addresses", "drain"]);
  const { addresses = [], ...others } = options;
  const { extent, drain } = checkResize(failed, region, sizes, others);
  if (stopReason !== undefined) throw new Error(`${failed}: it was stopped${reasonSuffix(stopReason)}`);
  checkOwner(failed, owner, caller);
  checkCurrent(hosts, region, failed);
  const size = extentSize(extent);
  const joining = Math.max(size - members.size, 0);
  if (!Array.isArray(addresses)) {
    throw new TypeError(`${failed}: expected a list of addresses, got ${describeValue(addresses)}`);
  }
  if (addresses.length !== joining) {
    throw new TypeError(
      `${failed}: expected one address for each host that joins at ${formatExtent(extent)}, ${joining} in all, got ${addresses.length}`,
    );
  }
  const leaving = Array.from({ length: Math.max(members.size - size, 0) }, (_, i) => size + i);
  const replaced = hosts.replacingOn(leaving);
  if (replaced !== undefined) {
    throw new Error(`${failed}: processes of mesh "${replaced.name}" are being replaced; await \`replace\` first`);
  }
  const hasCertificate = hosts.access.proof.tls !== undefined;
  const places = addresses.map((address, i) => ({ address, ...(routes[i] === undefined ? {} : { route: routes[i] }) }));
  const rules = { failed, hasCertificate, taken: hosts.takenAddresses };
  return { extent, drain, targets: parseRoutedTargets(places, rules) };
}
