/** Tests of the table of requests that a read-only driver may make: it decides about every request that there is. */
import { expect, test } from "vitest";
import { hostAgentDescriptor } from "../../../generated/host-agent.js";
import { type DriverRequests, HostAgent } from "../../../runtime/host/daemon/host-agent.js";
import {
  checkReadOnlyRequest,
  type HostRequest,
  readOnlyByCertificate,
  readOnlyByOption,
} from "../../../runtime/host/daemon/read-only.js";
import { parseIdentity } from "../../../runtime/link/transport/tls/identity.js";

/** The requests for looking and for leaving. All others change something, or prepare it. */
const allowed = [
  "attach",
  "beat",
  "describe",
  "driverEnded",
  "findPublication",
  "leave",
  "processes",
  "publishedRankState",
];
const requests = hostAgentDescriptor.endpoints.map(({ name }) => name as HostRequest);

/** Thrown in place of carrying a request out. */
class CarriedOut extends Error {}

/** Returns a session that carries nothing out, and says when it was asked to. */
function session(readOnly: string | undefined): DriverRequests {
  return new Proxy({} as DriverRequests, {
    get(_, name) {
      if (name === "readOnly") return readOnly;
      throw new CarriedOut();
    },
  });
}

/** Returns what the agent does with a request: `refused`, or `carried out`. */
async function outcome(request: HostRequest, readOnly: string | undefined): Promise<string> {
  const agent = new HostAgent(session(readOnly)) as unknown as Record<string, (...args: unknown[]) => unknown>;
  try {
    await agent[request]!();
  } catch (error) {
    // Some requests ask who calls before they reach the session, which nobody does here.
    if (error instanceof CarriedOut) return "carried out";
    if (/^cannot .*: this driver is read-only, because /.test((error as Error).message)) return "refused";
    return "carried out";
  }
  throw new Error(`${request} was answered`);
}

test("the agent of a read-only driver refuses every request that is not for looking", async () => {
  const outcomes = await Promise.all(requests.map((request) => outcome(request, readOnlyByOption)));
  expect(requests.filter((_, i) => outcomes[i] === "carried out").sort()).toEqual(allowed);
});

test("the agent of any other driver carries all of them out", async () => {
  expect(await Promise.all(requests.map((request) => outcome(request, undefined)))).toEqual(
    requests.map(() => "carried out"),
  );
});

test("a refusal says what was refused, why the driver is read-only, and what to do", () => {
  expect(() => checkReadOnlyRequest("start", readOnlyByOption)).toThrow(
    "cannot start a process: this driver is read-only, because it has attached this host with readOnly; attach the host " +
      "without this option",
  );
  const reason = readOnlyByCertificate(parseIdentity("viceroy://3f9c/viewer"))!;
  expect(() => checkReadOnlyRequest("shutdown", reason)).toThrow(
    "cannot shut the host down: this driver is read-only, because its certificate is that of viceroy://3f9c/viewer; use the " +
      "certificate of a driver",
  );
});

test("only the certificate of a viewer makes a driver read-only", () => {
  for (const name of ["driver", "controller", "hosts/workers/0"]) {
    expect(readOnlyByCertificate(parseIdentity(`viceroy://3f9c/${name}`))).toBeUndefined();
  }
  expect(readOnlyByCertificate(undefined)).toBeUndefined();
});
