/**
 * The notes of a cluster context about its jobs: a folder for each job, with a file for what the provider does not know and
 * the cache of the job. Several programs can use the same folder.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobInfo } from "./job-info.js";

/** Number of jobs that have ended whose folders are kept, the newest ones. */
const endedKept = 100;

/** The notes about a job. */
export interface JobNote {
  readonly id: string;
  /** The name of the provider, such as `"slurm"`. Absent until the job has been submitted. */
  readonly provider?: string;
  /** The time of the call of `createJob`, in ms since 1970. */
  readonly submissionTime: number;
  /** Whether somebody has deleted the job before it ended. */
  readonly isDeleted?: boolean;
  /** The state of a job that has ended. Nobody asks its provider any more. */
  readonly end?: Omit<JobInfo, "id" | "submissionTime">;
}

export class JobNotes {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder of a new job, with a note. */
  create(prefix: string): JobNote {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    for (;;) {
      const id = `${prefix}-${randomBytes(4).toString("hex")}`;
      try {
        mkdirSync(this.folderOf(id), { mode: 0o700 });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
        throw error;
      }
      const note = { id, submissionTime: Date.now() };
      this.write(note);
      return note;
    }
  }

  folderOf(id: string): string {
    return join(this.folder, id);
  }

  /** Returns the path of the cache of a job. */
  cacheOf(id: string): string {
    return join(this.folderOf(id), "job_state.json");
  }

  /** Returns the note of a job; undefined if there is none. */
  read(id: string): JobNote | undefined {
    // An id of a user can be any text.
    if (!/^[\w.-]+$/.test(id) || /^\.+$/.test(id)) return undefined;
    try {
      return JSON.parse(readFileSync(this.#fileOf(id), "utf8")) as JobNote;
    } catch {
      return undefined;
    }
  }

  write(note: JobNote): void {
    const file = this.#fileOf(note.id);
    const unfinished = `${file}.${process.pid}.new`;
    writeFileSync(unfinished, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(unfinished, file);
  }

  /** Returns the notes of all jobs, the oldest first. */
  all(): JobNote[] {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch {
      // Nothing was submitted from here.
      return [];
    }
    return names
      .flatMap((name) => this.read(name) ?? [])
      .sort((left, right) => left.submissionTime - right.submissionTime || (left.id < right.id ? -1 : 1));
  }

  remove(id: string): void {
    rmSync(this.folderOf(id), { recursive: true, force: true });
  }

  /** Removes the folders of jobs that have ended long ago. */
  removeOld(): void {
    const ended = this.all().filter(({ end }) => end !== undefined);
    for (const { id } of ended.slice(0, -endedKept)) this.remove(id);
  }

  #fileOf(id: string): string {
    return join(this.folderOf(id), "note.json");
  }
}
