/**
 * The API server for a test: the real one if `npm run test:skypilot` runs the tests, and a stand-in otherwise, which answers what the real
 * one has answered when `npm run test:skypilot -- --record` ran the same test.
 */
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type RetryWorld, systemWorld } from "../../../runtime/job/retry.js";
import { findAccess } from "../../../runtime/job/skypilot/api/access.js";
import { SkyPilotApi } from "../../../runtime/job/skypilot/api/skypilot-api.js";
import { type RealServer, startRealServer, userId } from "./real-server.js";
import { startRecorder } from "./recorder.js";
import { readRecording, writeRecording } from "./recording.js";
import { startStandIn } from "./stand-in.js";

/** The Python that has SkyPilot; absent for the stand-in. */
const python = process.env["VICEROY_SKYPILOT_PYTHON"];

/** What a test has. */
export interface SkyPilotLab {
  readonly url: string;
  /** @param token that of a service account; none by default */
  open(token?: string): Promise<SkyPilotApi>;
  /** Ends the server as a crash does, and starts it again. The stand-in has the answers of both. */
  restart(): Promise<void>;
}

/** A world in which nobody waits for a stand-in that is away. */
const hastyWorld: RetryWorld = { ...systemWorld, pause: (_ms, signal) => systemWorld.pause(1, signal) };

let server: RealServer | undefined;

/** Starts the server for the tests of a file. */
export function useSkyPilot(): void {
  beforeAll(async () => {
    if (python !== undefined) server = await startRealServer(python);
  }, 180_000);
  afterAll(() => server?.close());
}

/** @param name the name of the recording, of which each test has one */
export async function openLab(name: string): Promise<SkyPilotLab> {
  return { ...(await labAt(name, server)), restart: async () => server?.restart() };
}

/** The image of the machines, which `.ci/skypilot/image.sh` makes. */
export const clusterImage = "viceroy.test/skypilot:1";

/** The API server that can use a cluster of Kubernetes, which `main.ts` has started. */
const clusterUrl = process.env["VICEROY_SKYPILOT_URL"];

/** @param name the name of the recording, of which each test has one */
export function openClusterLab(name: string): Promise<Omit<SkyPilotLab, "restart">> {
  return labAt(name, clusterUrl === undefined ? undefined : { url: clusterUrl, folders: [] });
}

/** @param real where the real server is; undefined for the stand-in */
async function labAt(
  name: string,
  real: Pick<RealServer, "url" | "folders"> | undefined,
): Promise<Omit<SkyPilotLab, "restart">> {
  const url = await connect(name, real);
  const open = async (token?: string) => {
    const env = { SKYPILOT_USER_ID: userId, ...(token && { SKYPILOT_SERVICE_ACCOUNT_TOKEN: token }) };
    const access = await findAccess(url, { env, home: "/nowhere", cwd: "/nowhere", now: Date.now() });
    return new SkyPilotApi(access, real === undefined ? hastyWorld : systemWorld);
  };
  return { url, open };
}

async function connect(name: string, real: Pick<RealServer, "url" | "folders"> | undefined): Promise<string> {
  if (real === undefined) {
    const standIn = await startStandIn(readRecording(name));
    onTestFinished(() => standIn.close());
    return standIn.url;
  }
  if (process.env["VICEROY_SKYPILOT_RECORD"] === undefined) return real.url;
  const recorder = await startRecorder(real.url, real.folders);
  onTestFinished(async ({ task }) => {
    await recorder.close();
    if (task.result?.state === "pass") writeRecording(name, recorder.exchanged);
  });
  return recorder.url;
}
