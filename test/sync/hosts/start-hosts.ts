/** Daemons that have folders of their own, as on other machines. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type RunningHost, startHost } from "../../host/start-host.js";
import { Authority } from "../../link/transport/tls/certificates.js";

/** A daemon with a cache of its own, and the store in it. */
export interface SyncHost extends RunningHost {
  readonly cache: string;
  readonly store: string;
}

/**
 * Starts daemons with TLS.
 *
 * @param builds the commands of other builds, by rank
 * @param own variables of the environments of single hosts, by rank
 * @param through commands that run single daemons, by rank; each gets the folder of the cache of its host
 * @returns the hosts, and the options by which a driver attaches them
 */
export async function startHosts(
  count: number,
  env: Readonly<Record<string, string>> = {},
  builds: readonly (string | undefined)[] = [],
  own: readonly Readonly<Record<string, string>>[] = [],
  through: readonly (((cache: string) => readonly string[]) | undefined)[] = [],
): Promise<{ readonly hosts: readonly SyncHost[]; readonly options: object; readonly end: () => void }> {
  const authority = new Authority();
  const hosts = await Promise.all(
    Array.from({ length: count }, async (_, rank) => {
      const { cert, key, ca } = authority.issue(`host-${rank}`);
      const cache = realpathSync(mkdtempSync(path.join(tmpdir(), "host-cache-")));
      const args = ["--cert", cert, "--key", key, "--ca", ca];
      const variables = { XDG_CACHE_HOME: cache, ...env, ...own[rank] };
      const host = await startHost("tls://127.0.0.1:0", args, variables, through[rank]?.(cache) ?? [], builds[rank]);
      return { ...host, cache, store: path.join(cache, "viceroy", "code") };
    }),
  );
  return { hosts, options: { tls: authority.issue("driver") }, end: () => authority.remove() };
}
