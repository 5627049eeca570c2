/** The log of the last job of a cluster, read as it grows. */
import { appendFileSync } from "node:fs";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { SkyPilotApi } from "../api/skypilot-api.js";
import { type Announcement, readHostLine } from "../machine/host-lines.js";

/** The number of lines that are kept for errors. */
const keptLines = 10;

/** The reader of the log. */
export interface LogReader {
  announced(announcement: Announcement): void;
  /** The log has ended, because the job has, or it cannot be read any more. */
  ended(): void;
}

export class ClusterLog {
  readonly #last: string[] = [];
  readonly #ending = new AbortController();

  /** @param file the file to which the lines are added */
  constructor(api: SkyPilotApi, cluster: string, file: string, reader: LogReader) {
    void this.#read(api, cluster, file, reader).finally(() => reader.ended());
  }

  /** The last lines; empty if nothing was printed. */
  get lastWords(): string {
    return this.#last.join("\n");
  }

  close(): void {
    this.#ending.abort();
  }

  async #read(api: SkyPilotApi, cluster: string, file: string, reader: LogReader): Promise<void> {
    try {
      for await (const { kind, text } of api.jobLog(cluster, true, { signal: this.#ending.signal })) {
        if (kind === "status") continue;
        const read = readHostLine(text);
        if ("announcement" in read) {
          reader.announced(read.announcement);
          continue;
        }
        appendFileSync(file, `${text}\n`, { mode: 0o600 });
        this.#keep(text);
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#keep(errorMessage(error));
    }
  }

  #keep(line: string): void {
    this.#last.push(line);
    if (this.#last.length > keptLines) this.#last.shift();
  }
}
