/** The addresses of hosts that a program gives, and their checks before a host is attached. */
import { describeValue } from "../../../shared/text/describe-value.js";
import {
  formatNetworkAddress,
  type NetworkAddress,
  parseNetworkAddress,
} from "../../link/transport/network-address.js";
import type { DialHost } from "../../proc/remote/host-route.js";

/** The addresses of a host. */
export interface HostAddress {
  /** The address in references, by which other hosts reach it. */
  readonly address: NetworkAddress;
  /** The address by which this driver reaches it, if that is another one. */
  readonly route?: NetworkAddress;
  /** What messages call the host, if not by its address: a URL. */
  readonly name?: string;
  /** Makes a connection to it, if this driver does not dial an address. */
  readonly dial?: DialHost;
}

/** The addresses of a host, as text. */
export interface RoutedHost {
  /** The address by which the processes of other hosts reach it. */
  readonly address: string;
  /** The address by which this program reaches it, such as a forwarded socket. Absent: the same. */
  readonly route?: string;
}

/** The settings that the checks of addresses depend on. */
export interface TargetRules {
  /** The start of the error messages: `cannot attach hosts`. */
  readonly failed: string;
  /** Whether the program has given the certificate that `tls://` needs. */
  readonly hasCertificate: boolean;
  /** Addresses that cannot be used, each with the reason. */
  readonly taken?: ReadonlyMap<string, string>;
}

/**
 * Checks the addresses of hosts.
 *
 * @throws {TypeError} when an address is malformed, is named twice, is taken, or needs a certificate that was not given
 */
export function parseTargets(addresses: readonly unknown[], rules: TargetRules): HostAddress[] {
  const { failed, hasCertificate, taken } = rules;
  const known = new Set<string>();
  return addresses.map((address) => {
    if (typeof address !== "string") {
      throw new TypeError(`${failed}: expected addresses as text, got ${describeValue(address)}`);
    }
    const target = parseNetworkAddress(address);
    const text = formatNetworkAddress(target);
    if (known.has(text)) throw new TypeError(`${failed}: ${text} is named twice`);
    const why = taken?.get(text);
    if (why !== undefined) throw new TypeError(`${failed}: ${text} ${why}`);
    if (target.kind === "tls" && !hasCertificate) {
      const advice = "a certificate, its key and an authority; give their files as tls";
      throw new TypeError(`${failed}: tls:// needs ${advice}`);
    }
    known.add(text);
    return { address: target };
  });
}

/** Checks the addresses of hosts, and adds the routes to them. @throws TypeError as `parseTargets` does */
export function parseRoutedTargets(places: readonly RoutedHost[], rules: TargetRules): HostAddress[] {
  const targets = parseTargets(
    places.map(({ address }) => address),
    rules,
  );
  return targets.map((target, i) => {
    const { route } = places[i]!;
    return route === undefined ? target : { ...target, route: parseNetworkAddress(route) };
  });
}
