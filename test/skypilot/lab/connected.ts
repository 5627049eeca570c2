/** Something that answers as the API server of SkyPilot. */
export interface Connected {
  readonly url: string;
  close(): Promise<void>;
}
