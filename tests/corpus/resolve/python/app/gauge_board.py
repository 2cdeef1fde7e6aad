class GaugeBoard:
    needle: int
    backlight = None

    def __init__(self, needle):
        self.needle = needle  #! GaugeBoard.needle
        self.backlight = needle  #! GaugeBoard.backlight
        self.frame_width = 3

    def turn(self):
        return self.needle + self.frame_width  #! GaugeBoard.needle; GaugeBoard.frame_width
