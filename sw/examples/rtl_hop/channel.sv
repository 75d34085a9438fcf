// One direction of a hop: beats come in on one side and go out on the other, valid/ready.
// REGISTERED = 0: the wires go through. 1: a register slice that takes and gives a beat every cycle; no path leads from one
// side to the other within a cycle, `ready` included.
module channel #(
  parameter bit REGISTERED = 1'b1
) (
  input  logic         clock,

  input  logic         in_valid,
  output logic         in_ready,
  input  logic [  2:0] in_command,
  input  logic [ 63:0] in_address,
  input  logic [  3:0] in_sectors,
  input  logic [  8:0] in_beat,
  input  logic         in_last,
  input  logic [ 31:0] in_identifier,
  input  logic [ 63:0] in_origin,
  input  logic         in_error,
  input  logic [255:0] in_data,
  input  logic [ 31:0] in_strobes,

  output logic         out_valid,
  input  logic         out_ready,
  output logic [  2:0] out_command,
  output logic [ 63:0] out_address,
  output logic [  3:0] out_sectors,
  output logic [  8:0] out_beat,
  output logic         out_last,
  output logic [ 31:0] out_identifier,
  output logic [ 63:0] out_origin,
  output logic         out_error,
  output logic [255:0] out_data,
  output logic [ 31:0] out_strobes
);
  typedef struct packed {
    logic [  2:0] command;
    logic [ 63:0] address;
    logic [  3:0] sectors;
    logic [  8:0] number;
    logic         last;
    logic [ 31:0] identifier;
    logic [ 63:0] origin;
    logic         error;
    logic [255:0] data;
    logic [ 31:0] strobes;
  } beat_t;

  beat_t coming, going;
  assign coming = {in_command, in_address, in_sectors, in_beat, in_last, in_identifier, in_origin, in_error, in_data, in_strobes};
  assign {out_command, out_address, out_sectors, out_beat, out_last, out_identifier, out_origin, out_error, out_data,
          out_strobes} = going;

  if (!REGISTERED) begin : wires
    assign going     = coming;
    assign out_valid = in_valid;
    assign in_ready  = out_ready;
  end else begin : slice
    // Two places: `ready` is a register itself, so a beat may still come in while the one before it has to stay.
    beat_t      place [2];
    logic [1:0] count = 0;
    assign going     = place[0];
    assign out_valid = count != 0;
    assign in_ready  = count != 2;

    wire takes = in_valid && in_ready;
    wire gives = out_valid && out_ready;
    wire front = count == 2'(gives);  // the place for what comes in
    always_ff @(posedge clock) begin
      if (gives) place[0] <= place[1];
      if (takes && front) place[0] <= coming;
      if (takes && !front) place[1] <= coming;
      count <= count + 2'(takes) - 2'(gives);
    end
  end
endmodule
