// A client's figures, read from the program's memory when asked for; client.h says what each is.

import { ClientStats as Row } from './layout.js';
import type { Native } from '../sim/native.js';

export class Stats {
    /** @internal */
    constructor(
        private readonly n: Native,
        private readonly at: number,
    ) {}

    get serverTick(): number { return this.n.count(this.at + Row.server_tick); }
    get predictedTick(): number { return this.n.count(this.at + Row.predicted_tick); }
    get rttMs(): number { return this.n.u32[(this.at + Row.rtt_ms) >> 2]!; }
    get jitterMs(): number { return this.n.u32[(this.at + Row.jitter_ms) >> 2]!; }
    get interpolationDelayMs(): number { return this.n.u32[(this.at + Row.interpolation_delay_ms) >> 2]!; }
    get views(): number { return this.n.count(this.at + Row.views); }
    get viewPackets(): number { return this.n.count(this.at + Row.view_packets); }
    get packetsLost(): number { return this.n.count(this.at + Row.packets_lost); }
    /** Datagrams that were not what they should be. */
    get packetsRefused(): number { return this.n.count(this.at + Row.packets_refused); }
    get bytesIn(): number { return this.n.count(this.at + Row.bytes_in); }
    get bytesOut(): number { return this.n.count(this.at + Row.bytes_out); }
    get inputsSent(): number { return this.n.count(this.at + Row.inputs_sent); }
    get keyframeSize(): number { return this.n.count(this.at + Row.keyframe_size); }
    get keyframeHave(): number { return this.n.count(this.at + Row.keyframe_have); }
    /** Times that it came back to its slot by another connection. */
    get comebacks(): number { return this.n.count(this.at + Row.comebacks); }
    /** Times that the own body was rewound and stepped again: corrections. */
    get reconciles(): number { return this.n.count(this.at + Row.reconciles); }
    get predictedSteps(): number { return this.n.count(this.at + Row.predicted_steps); }
    get desyncs(): number { return this.n.count(this.at + Row.desyncs); }
    get errorCount(): number { return this.n.count(this.at + Row.error_count); }
    /** Of the own body's pose against the server's at the same tick, metres: sum and largest. */
    get errorSum(): number { return this.n.f64[(this.at + Row.error_sum) >> 3]!; }
    get errorMax(): number { return this.n.f64[(this.at + Row.error_max) >> 3]!; }
    /** Ticks by which inputs come early, at the least. */
    get inputLead(): number { return this.n.f32[(this.at + Row.input_lead) >> 2]!; }
    get lateReports(): number { return this.n.count(this.at + Row.late_reports); }
    get predictedAt(): number { return this.n.f64[(this.at + Row.predicted_at) >> 3]!; }
    get interpolatedAt(): number { return this.n.f64[(this.at + Row.interpolated_at) >> 3]!; }
}
