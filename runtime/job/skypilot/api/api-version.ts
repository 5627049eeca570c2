/**
 * The versions of SkyPilot's API. Each request names one, and the API server answers as that version expects; each answer names that of the
 * server.
 */
import { SkyPilotError, shownText } from "./skypilot-error.js";

/** The version of the API for which this client is written, and the release of SkyPilot that has it. */
export const ownVersion = { api: 62, release: "0.14.1" };

/** The oldest version that has all of the API that this client uses: that which its release of SkyPilot accepts, too. */
const oldestVersion = { api: 24, release: "0.11.0" };

const apiHeader = "x-skypilot-api-version";
const releaseHeader = "x-skypilot-version";

/** The headers by which a request names its version. */
export const versionHeaders = { [apiHeader]: String(ownVersion.api), [releaseHeader]: ownVersion.release };

/** The version of an API server. */
export interface ServerVersion {
  readonly api: number;
  /** The release, such as `"0.14.1"`. */
  readonly release: string;
}

/** Reads the version of an answer; undefined if it has none, as those of a proxy. */
export function versionOf(headers: Headers): ServerVersion | undefined {
  const api = headers.get(apiHeader);
  if (api === null || !/^\d{1,9}$/.test(api)) return undefined;
  return { api: Number(api), release: (headers.get(releaseHeader) ?? "unknown").slice(0, 100) };
}

/** @throws SkyPilotError if an API server is too old for this client. Its health, which it also tells old clients, may be all that has a version. */
export function checkServerVersion({ api, release }: ServerVersion, what: string, server: string): void {
  if (api >= oldestVersion.api) return;
  const needed = `Viceroy needs SkyPilot ${oldestVersion.release} or newer, whose API has version ${oldestVersion.api}`;
  const has = `the SkyPilot API server at ${server} is SkyPilot ${release}, whose API has version ${api}`;
  throw new SkyPilotError(`cannot ${what}: ${has}, and ${needed}; upgrade the server`, { status: 200 });
}

/** Makes the error of an API server that does not answer clients of this version any more. @param said what it has said */
export function tooNewError(said: string, what: string, server: string): SkyPilotError {
  const speaks = `does not answer clients of SkyPilot ${ownVersion.release} any more, as which Viceroy asks`;
  const text = `cannot ${what}: the SkyPilot API server at ${server} ${speaks}: ${shownText(said).replaceAll("\n", " ")}`;
  return new SkyPilotError(`${text}; use a newer Viceroy, or an older API server`, {
    status: 400,
    kind: "version_mismatch",
  });
}
