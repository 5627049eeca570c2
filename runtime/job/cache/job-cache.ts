/**
 * The cache file of a job: the record of what was submitted, so that the next run of the program uses the same hosts.
 * It is written as a whole, under a lock, and only the user can read it. A file that cannot be understood is an error
 * and is never removed, because it may be the only trace of a job that runs somewhere.
 */
import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import { type HeldLock, lockFile } from "../../cache/file-lock.js";
import { JobCacheError } from "../errors.js";
import { type JobRecord, parseRecord } from "../record/job-record.js";
import { writeRecordFile } from "../record/record-file.js";

export class JobCache {
  /** The path of the file, as it was given. */
  readonly file: string;

  constructor(file: string) {
    this.file = resolve(file);
  }

  /** The folder that contains the folders of runs, beside the cache. */
  get folder(): string {
    return join(dirname(this.file), "jobs");
  }

  /** The folder of the files of a run. */
  folderOf(applyId: string): string {
    return join(this.folder, applyId);
  }

  /** Takes the lock of the cache, and waits while another driver has it. @throws JobCacheError */
  async lock(signal?: AbortSignal): Promise<HeldLock> {
    try {
      mkdirSync(dirname(this.file), { recursive: true });
      return await lockFile(`${this.file}.lock`, signal);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new JobCacheError(this.file, errorMessage(cause), { cause });
    }
  }

  /**
   * Returns the record in the file; undefined if there is no file.
   * @throws JobCacheError if the file cannot be read, is no record, or belongs to another user
   */
  read(): JobRecord | undefined {
    let text: string;
    try {
      text = readFileSync(this.file, "utf8");
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new JobCacheError(this.file, errorMessage(cause), { cause });
    }
    const advice = "remove the file if no job of it runs any more, or name another file with the option cache";
    const { uid } = statSync(this.file);
    if (uid !== process.getuid?.()) {
      throw new JobCacheError(
        this.file,
        `it belongs to another user (${uid}); name another file with the option cache`,
      );
    }
    const record = parseRecord(text);
    if (typeof record === "string") throw new JobCacheError(this.file, `${record}; ${advice}`);
    return record;
  }

  /** Replaces the file. @throws JobCacheError if it cannot be written */
  write(record: JobRecord): void {
    const file = this.#target();
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeRecordFile(file, record);
    } catch (cause) {
      throw new JobCacheError(this.file, errorMessage(cause), { cause });
    }
  }

  /** Removes the file if it is the record of this run. */
  remove(applyId: string): void {
    try {
      if (this.read()?.applyId === applyId) rmSync(this.#target(), { force: true });
    } catch {
      // A file that cannot be understood is not the record of this run.
    }
  }

  /** The file itself, if the path is a symbolic link. */
  #target(): string {
    try {
      return realpathSync(this.file);
    } catch {
      return this.file;
    }
  }
}
