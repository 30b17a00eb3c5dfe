/**
 * The limits that folders share, with their unit last. One that a single file keeps stands there, a platform's own in
 * its adapter, and the default of a setting in the schema.
 */
export const limits = {
  /** Receiving */
  inboundTextCharsMax: 64_000,
  inboxKeyDays: 30,
  waitingMessagesMax: 20,
  /** Of one other bot, whatever the chat */
  botMessagesMax: 10,
  botWindowMs: 10 * 60_000,
  partsQuietMs: 1_000,
  backlogAgeMs: 24 * 3_600_000,
  filesPerMessageMax: 10,
  fileBytesMax: 20 * 1024 * 1024,

  /** People */
  pairingCodeChars: 8,
  pairingMs: 3_600_000,
  pairingsPendingMax: 3,
  claimMs: 3_600_000,
  claimTriesMax: 5,
  signInLinkMs: 15 * 60_000,
  sessionMs: 30 * 24 * 3_600_000,
  linkCodeChars: 8,
  /** Of a link's code, and again from the moment it was sent until both sides have confirmed */
  linkMs: 15 * 60_000,
  linkTriesMax: 5,
  linkTriesMs: 3_600_000,
  linkedAccountsMax: 10,
  /** Accounts that were linked within this time count as one for dual sign */
  linkAsOneMs: 72 * 3_600_000,
  tokenUsedMs: 60_000,

  /** Stages */
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  /**
   * Of a gateway's clock from that of the database it shares. Two gateways may then be twice as far from each other, and
   * a lease that is renewed with every heartbeat has at least that much (leaseMs - heartbeatMs) left.
   */
  clockApartMsMax: 5_000,
  sweepMs: 5_000,
  drainMs: 10_000,

  /** Runs */
  parallelReadsMax: 10,
  /** Checking the arguments of one call against its schema, where that may take long */
  schemaCheckMsMax: 100,
  /** A run that took down its process this often is given up. */
  claimsPerRunMax: 25,
  toolResultCharsMax: 100_000,
  historyTurnsMax: 200,
  historyTurnsAfterCut: 100,

  /** Values (rule 32) */
  valueBytesMax: 64 * 1024,
  valueKeysMax: 1_000,
  valueStoreBytesMax: 1024 * 1024,
  valueKeyCharsMax: 256,

  /** Sending */
  unknownSendsMax: 5,
  sendTimeoutMs: 30_000,
  answerCharsMax: 400_000,
  streamFirstMs: 700,
  statusFirstMs: 1_000,
  statusRepeatMs: 4_000,
  markdownCharsMax: 40_000,

  /** Models; how long a whole attempt may take is the profile's `timeout` */
  modelFirstByteMs: 120_000,
  modelByteGapMs: 90_000,
  modelRetryAfterMsMax: 60_000,
  modelBackoffMs: 500,
  modelBackoffMsMax: 20_000,
  modelResponseBytesMax: 16 * 1024 * 1024,
  modelArgumentsCharsMax: 400_000,
  /** Of arrays and objects in the arguments of any tool call, so that whatever walks through them ends */
  argumentsLevelsMax: 256,
  modelCallsMax: 64,

  /** Skills; how long one may run is its manifest's `timeout_seconds` */
  skillTimeoutMsDefault: 30_000,
  skillTimeoutSecondsMax: 24 * 3_600,
  skillNameCharsMax: 64,
  skillManifestBytesMax: 256 * 1024,
  skillFolderBytesMax: 64 * 1024 * 1024,
  skillFolderFilesMax: 2_000,
  skillSearchDepthMax: 16,
  skillSearchEntriesMax: 50_000,

  /** One call in the sandbox; memory is of all its processes where there is a cgroup, else of each */
  sandboxesAtOnceMax: 16,
  sandboxMemoryBytesMax: 512 * 1024 * 1024,
  sandboxAddressBytesMax: 4 * 1024 * 1024 * 1024,
  sandboxProcessesMax: 128,
  sandboxOpenFilesMax: 1_024,
  sandboxFileBytesMax: 64 * 1024 * 1024,
  sandboxTmpBytesMax: 64 * 1024 * 1024,
  sandboxSharedMemoryBytesMax: 16 * 1024 * 1024,
  sandboxCpuPerWallMax: 2,
  sandboxStdoutBytesMax: 16 * 1024 * 1024,
  sandboxStderrTailBytes: 4 * 1024,
  sandboxLogLinesMax: 1_000,
  sandboxLogLineCharsMax: 2_000,
  sandboxEndMsMax: 1_000,
  sandboxSelfTestMsMax: 10_000,

  /** HTTP */
  httpBodyBytesMax: 1024 * 1024,
} as const;
