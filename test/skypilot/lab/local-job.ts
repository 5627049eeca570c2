/** Jobs on a local cloud. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SkyPilotJob, type SkyPilotJobOptions } from "viceroy/job";
import { onTestFinished } from "vitest";
import type { LocalCloud } from "./local-cloud.js";

export type LocalJobOptions = SkyPilotJobOptions<string>;

/** Returns a new folder, which is removed after the test. */
export function testFolder(): string {
  const made = mkdtempSync(path.join(tmpdir(), "viceroy-skypilot-job-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }));
  return made;
}

/** Returns the options of a job with two hosts. */
export function localOptions(cloud: LocalCloud, options: Partial<LocalJobOptions> = {}): LocalJobOptions {
  return {
    name: "train",
    meshes: { trainers: { hosts: 2 } },
    endpoint: cloud.url,
    cache: path.join(testFolder(), "job.json"),
    progress: "silent",
    reach: "direct",
    hostTimeout: "60s",
    ...options,
  };
}

/** Returns a job, which is killed after the test. */
export function localJob(cloud: LocalCloud, options: Partial<LocalJobOptions> = {}): SkyPilotJob<string> {
  const job = new SkyPilotJob(localOptions(cloud, options));
  onTestFinished(() => job.kill());
  return job;
}

/** Collects the events of a job as text. */
export function eventsOf(job: SkyPilotJob<string>): string[] {
  const events: string[] = [];
  void (async () => {
    for await (const { kind, rank, reason } of job.watch()) events.push(`${kind} ${rank ?? ""}: ${reason}`);
  })();
  return events;
}
